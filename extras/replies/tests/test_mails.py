"""What mails say: who sent them, and which part of the text is the sender's own."""

import base64
from contextlib import suppress
from email.message import EmailMessage

import pytest

from extras.replies.mails import MARKER, MOST_BYTES, IncomingMail, Unreadable, own_text
from extras.replies.tests.samples import AUTOMATIC, HOSTILE
from tests.cases import for_each
from tests.work import work_in

QUOTED = [
    f"{MARKER} Write your reply above this line. It is posted as your comment. {MARKER}",
    "", "Hello alice,", "", "bob commented on your article A title",
    "To unsubscribe: https://news.example.org/unsubscribe/secret/",
]  # fmt: skip


def quoted(prefix: str = "> ") -> str:
    return "\n".join(f"{prefix}{line}".rstrip() for line in QUOTED)


def text_of(raw: bytes | str | EmailMessage) -> str:
    raw = raw.as_bytes() if isinstance(raw, EmailMessage) else raw
    return IncomingMail.of(raw.encode() if isinstance(raw, str) else raw).text


OWN = "I agree.\n\n    indented code\n\n* a list"

ON = "On 11/28/26 10:00, Article Voting wrote:"
LINE = "________________________________"

BODIES = {
    "Gmail": f"{OWN}\n\nOn Sat, Nov 28, 2026 at 10:00 AM Article Voting <n@example.org>\nwrote:\n\n{quoted()}\n",
    "Gmail in Chinese": f"{OWN}\n\nX <n@example.org> 于2026年11月28日周六 10:00写道：\n\n{quoted()}\n",
    "Apple Mail": f"{OWN}\n\n> On 28 Nov 2026, at 10:00, Article Voting <n@example.org> wrote:\n> \n{quoted()}\n",
    "iPhone": f"{OWN}\n\nSent from my iPhone\n\n> On Nov 28, 2026, at 10:00, X <n@x.org> wrote:\n{quoted()}",
    "iPhone in Chinese": f"{OWN}\n\n发自我的 iPhone\n\n> 在 2026年11月28日，10:00，X 写道：\n> \n{quoted()}",
    "Outlook": f"{OWN}\n\n-----Original Message-----\nFrom: X <n@x.org>\nSent: Saturday\n\n{quoted('')}",
    "Outlook of today": f"{OWN}\n\n________________________________\nFrom: Article Voting <n@example.org>\n"
    f"Sent: Saturday, November 28, 2026 10:00 AM\nTo: alice\nSubject: 1 new notice\n\n{quoted('')}",
    "Outlook in Chinese": f"{OWN}\n\n________________________________\n发件人: Article Voting <n@example.org>\n"
    f"发送时间: 2026年11月28日 10:00\n收件人: alice\n主题: 1 条新通知\n\n{quoted('')}",
    "Outlook in Traditional Chinese": f"{OWN}\n\n寄件者: X\n寄件日期: 2026年\n主旨: b\n\n{quoted('')}",
    "Thunderbird": f"{OWN}\n\n{ON}\n{quoted()}\n",
    "Thunderbird, below": f"{ON}\n{quoted()}\n\n{OWN}\n\n-- \nAlice\nhttps://x.example\n",
    "mutt": f"On Sat, Nov 28, 2026 at 10:00:00AM +0000, Article Voting wrote:\n{quoted()}\n\n{OWN}\n",
    "QQ": f'{OWN}\n\n------------------&nbsp;原始邮件&nbsp;------------------\n发件人: "X";\n{quoted("")}',
    "QQ, with blanks": f'{OWN}\n\n------------------ 原始邮件 ------------------\n发件人: "X"\n{quoted("")}',
    "163": f'{OWN}\n\n\nAt 2026-11-28 10:00:00, "Article Voting" <n@example.org> wrote:\n{quoted(">")}\n',
    "163 in Chinese": f'{OWN}\n\n在 2026-11-28 10:00:00，"X" <n@x.org> 写道：\n\n{quoted("")}\n',
    "163 on a phone": f"{OWN}\n\n---- 回复的原邮件 ----\n| 发件人 | X |\n{quoted('')}",
    "Proton": f"{OWN}\n\nSent with Proton Mail secure email.\n\nOn Saturday, 28 Nov 2026, X wrote:\n\n{quoted()}",
    "another language": f"{OWN}\n\nLe sam. 28 nov. 2026 à 10:00, X <n@x.org> a écrit :\n\n{quoted()}",
    "only the marker": f"{OWN}\n\n{quoted('')}",
    "a new mail": f"{OWN}\n",
    "a signature": f"{OWN}\n-- \nAlice\n",
    "Windows": f"{OWN}\n\nOn 11/28/26 10:00, X wrote:\n{quoted()}\n".replace("\n", "\r\n"),
}


@for_each("client", BODIES)
def test_quoted_text_is_cut_from_what_mail_programs_send(client):
    assert own_text(BODIES[client]).strip("\n") == OWN


HEADS = """\
From Sent To Subject|Von Gesendet An Betreff|De Envoyé À Objet|De Enviado Para Asunto
Da Inviato A Oggetto|De Enviada~em Para Assunto|Van Verzonden Aan Onderwerp
Van Datum Aan Onderwerp|Fra Sendt Til Emne|Från Skickat Till Ämne
Lähettäjä Lähetetty Vastaanottaja Aihe|Od Wysłane Do Temat|Od Odesláno Komu Předmět
Od Odoslané Komu Predmet|Gönderen Gönderildi Kime Konu|Feladó Elküldve Címzett Tárgy
De~la Trimis Către Subiect|От Отправлено Кому Тема|Від Надіслано Кому Тема
От Изпратено До Относно|Από Στάλθηκε Προς Θέμα|Šalje Poslano Prima Predmet
Saatja Saadetud Adressaat Teema|Nuo Išsiųsta Kam Tema|Frá Sent Til Efni|差出人 送信日時 宛先 件名
보낸~사람 보낸~날짜 받는~사람 제목|发件人 发送时间 收件人 主题|寄件者 寄件日期 收件者 主旨|מאת נשלח אל נושא
من تم~الإرسال إلى الموضوع|จาก ส่ง ถึง เรื่อง|Từ Đã~gửi Tới Chủ~đề|Dari Dikirim Kepada Subjek
प्रेषक भेजा~गया प्रति विषय|Oddiwrth Anfonwyd At Pwnc|Nork Noiz Nori Gaia
De Enviat A Assumpte"""
VALUES = ("Voting <n@example.org>", "28.11.2026 10:00", "hana <hana@example.org>", "RE: 1 new notice")
FORMS = {
    "a rule": "________________________________\n{}",
    "nothing above": "{}",
    "a divider": "-----Ursprüngliche Nachricht-----\n{}",
    "a divider in asterisks": "*----- Původní zpráva -----*\n\n{}",
    "a wrapped value": "{}\n <other@example.org>",
}
PAIRS = {
    "plain": "{}: {}",
    "bold": "*{}:* {}",
    "HTML": "**{}:** {}",
    "wide": "{}：{}",
    "French": "{} : {}",
    "tabs": "{}:\t{}",
}


@pytest.mark.deep
@for_each("heads", HEADS.replace("\n", "|").split("|"))
def test_the_head_above_the_marker_is_cut_in_any_language(heads):
    words = heads.replace("~", "\xa0").split(" ")
    for own in ("I agree.", "Pro: cheap\nCon: slow", "In 2026:", "PS: I agree"):
        for form in FORMS.values():
            for pair in PAIRS.values():
                for order in ((0, 1, 2, 3), (1, 0, 2), (0, 2, 1), (2, 1)):
                    head = form.format("\n".join(pair.format(words[n], VALUES[n]) for n in order))
                    assert own_text(f"{own}\n\n{head}\n\n{quoted('')}") == own, head


INTRODUCTIONS = """\
On Sat, Nov 28, 2026 at 10:00 AM {} wrote:|Am 28.11.2026 um 10:00 schrieb {}:
{} schrieb am Sa., 28. Nov. 2026, 10:00:|Le sam. 28 nov. 2026 à 10:00, {} a écrit :
El 28/11/26 a las 10:00, {} escribió:|Il giorno 28 nov 2026, {} ha scritto:
Em sáb., 28 de nov. de 2026 às 10:00, {} escreveu:
Op 28 nov. 2026 om 10:00 heeft {} het volgende geschreven:
Den 28. nov. 2026 kl. 10.00 skrev {}:|lör 28 nov. 2026 kl. 10:00 skrev {}:
la 28.11.2026 klo 10.00 {} kirjoitti:|W dniu 28.11.2026 o 10:00, {} pisze:
so 28. 11. 2026 v 10:00 odesílatel {} napsal:|28 Kas 2026 Cmt, 10:00 {} şunu yazdı:
{} ezt írta (időpont: 2026. nov. 28., Szo, 10:00):|сб, 28 нояб. 2026 г. в 10:00, {}:
28.11.26 10:00, {} пише:|Στις Σάβ 28 Νοε 2026 στις 10:00, {} έγραψε:
2026年11月28日(土) 10:00 {}:|2026년 11월 28일 (토) 10:00, {}님이 작성:|{} 于2026年11月28日周六 10:00写道：
在 2026-11-28 10:00:00，{} 写道：|{} 於 2026年11月28日週六 上午10:00寫道：
\u202bבתאריך 28 בנוב׳ 2026 ב-10:00 מאת {}:\u202c|Vào 10:00 28/11/2026, {} đã viết:
2026-11-28 10:00 GMT+01:00 {}:|---- On Sat, 28 Nov 2026 10:00:00 +0000 {} wrote ----
28 Nov 2026, 10:00 by {}:|2013/10/2 {}|{} schrieb am Sa., 28.~Nov. 2026 um 10:00 Uhr:"""


@for_each("introduction", INTRODUCTIONS.replace("\n", "|").split("|"))
def test_what_introduces_the_marker_is_cut_in_any_language(introduction):
    for name in ("Voting <reply+2s-nchlpx-t4euex@example.org>", "Voting\n<n@example.org>", "Voting <\nn@x.org>"):
        for mark in ("> ", ">", ""):
            text = f"In 2026:\n\n{introduction.format(name).replace('~', chr(10))}\n\n{quoted(mark)}"
            assert own_text(text) == "In 2026:", text


ADVERTISED = """\
Sent from my iPhone|Get Outlook for iOS<https://aka.ms/x>|Von meinem iPhone gesendet
Gesendet mit der GMX Mail App|Envoyé de mon iPhone|Envoyé depuis l'application Yahoo Mail
Enviado desde mi iPhone|Enviado do meu iPhone|Inviato da iPhone|Verstuurd vanaf mijn iPhone
Sendt fra min iPhone|Skickat från min iPhone|Lähetetty iPhonesta|Odesláno z iPhonu
Odesláno z mobilu|Wysłane z iPhone'a|Wysłano z telefonu|Trimis de pe iPhone
iPhone’umdan gönderildi|Отправлено с iPhone|Надіслано з iPhone|Στάλθηκε από το iPhone μου
iPhoneから送信|나의 iPhone에서 보냄|发自我的iPhone|发自我的华为手机|從我的 iPhone 傳送|發自我的 iPhone
Sent with Proton Mail secure email."""


@for_each("line", ADVERTISED.replace("\n", "|").split("|"))
def test_what_a_telephone_adds_is_cut_at_the_end_alone(line):
    for end in ("", f"\n\n{ON}\n{quoted()}", f"\n\n{quoted('')}"):
        assert own_text(f"Yes.\n\n{line}{end}") == "Yes."
    assert own_text(f"Yes.\n\n{line}\n\nNo.") == f"Yes.\n\n{line}\n\nNo."


def test_signed_text_is_read_without_its_signature():
    signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nYes\n- - one{}\n"
    signed += "-----BEGIN PGP SIGNATURE-----\n\niQ==\n"
    for end in ("", f"\n\n{ON}\n{quoted()}"):
        assert own_text(signed.format(end) + "-----END PGP SIGNATURE-----\n") == "Yes\n- one"


def test_a_blank_text_beside_html_is_not_the_text():
    for blank in ("", "\n\n", " \xa0\u200b\n"):
        mail = EmailMessage()
        mail.set_content(blank)
        mail.add_alternative("<p>Yes</p>", subtype="html")
        assert text_of(mail) == "Yes"


def test_flowed_lines_are_joined():
    for more, text in (("", "One two\n>three"), ("; delsp=yes", "Onetwo\n>three")):
        head = f"Content-Type: text/plain; charset=utf-8; format=flowed{more}\n\n"
        assert text_of(f"{head}One \ntwo\n  - x\n> q\n-- \nA\n") == text.replace(">three", " - x")


def test_answers_between_quoted_lines_are_kept():
    body = f"On 11/28/26 10:00, X wrote:\n{quoted()}\n> one?\n\nFirst.\n\n> two?\nSecond:\n> three\nThird.\n"

    assert [line for line in own_text(body).split("\n") if line] == ["First.", "Second:", "Third."]


def test_text_that_resembles_a_quotation_is_kept():
    for text in (
        "From: here to there\nit is far", "Subject: x", "| a | b |\n|----|----|\n| 1 | 2 |",
        "As I said in 2026:\nnothing", "above\n\n---\n\nbelow", "—— a dash", "above\n--\nbelow",
        "above\n-- \n" + "below\n" * 11 + "end",
        "---- Results ----\nfirst", "From: a@x.org\nSubject: y\nis what I got", "Sent via fax in 1990",
        "Sent via my iPhone, it was counted twice", "On 28 Nov 2026 at 10:00 she wrote:\n\nnothing",
        "-----BEGIN PGP SIGNED MESSAGE-----\nand no more",
    ):  # fmt: skip
        assert own_text(text) == text
        assert own_text(f"{text}\n\n{ON}\n{quoted()}") == text


def test_a_mail_of_quotations_alone_has_no_text():
    assert own_text(f"\n\nOn 11/28/26 10:00, X wrote:\n{quoted()}\n") == ""


@for_each(
    "charset, label",
    [
        ("gb18030", "GB2312"), ("gbk", "gbk"), ("big5", "Big5"), ("iso-2022-jp", "ISO-2022-JP"),
        ("utf-8", "utf-8"), ("utf-8", "US-ASCII"), ("utf-8", "no such"),
        ("utf-8", "idna"), ("utf-8", "utf-8; format=flowed"),
    ],
)  # fmt: skip
def test_text_is_read_in_the_encoding_that_it_is_in(charset, label):
    text = "日本" if charset == "iso-2022-jp" else "这是朱镕基" if charset == "gb18030" else "中文"
    for transfer, encoded in (("8bit", text.encode(charset)), ("base64", base64.b64encode(text.encode(charset)))):
        head = f"Content-Type: text/plain; charset={label}\nContent-Transfer-Encoding: {transfer}\n\n"
        assert text_of(head.encode() + encoded) == text


def test_text_in_no_known_encoding_is_unreadable():
    with pytest.raises(Unreadable):
        text_of(b"Content-Type: text/plain; charset=utf-8\n\n\xff\xfe\xfa")


def test_the_text_is_taken_and_attachments_are_not():
    mail = EmailMessage()
    mail.set_content("Mine.\n")
    mail.add_alternative("<p>Not mine</p>", subtype="html")
    mail.add_attachment(b"secret", maintype="text", subtype="plain", filename="a.txt")
    other = EmailMessage()
    other.set_content("Of another")
    mail.add_attachment(other)

    assert text_of(mail) == "Mine."
    mail = EmailMessage()
    mail.add_attachment(b"secret", maintype="text", subtype="plain", filename="a.txt")
    with pytest.raises(Unreadable):
        text_of(mail)


def test_the_parts_around_a_picture_are_one_text():
    picture = "Content-Type: image/png\n\nx"
    mail = f"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nOne\n--b\n{picture}\n--b\n\nTwo\n--b--"

    assert text_of(mail).split() == ["One", "Two"]


def test_a_mail_in_html_alone_is_read_without_what_it_quotes():
    html = (
        "<html><body><div>I <b>agree</b> &amp; more.<br>A line</div><div><br></div>"
        "<div>On Sat, Nov 28, 2026 at 10:00 AM X &lt;n@x.org&gt; wrote:</div><blockquote>"
        + "".join(f"<p>{line}</p>" for line in QUOTED)
        + "</blockquote></body></html>"
    )
    mail = EmailMessage()
    mail.set_content(html, subtype="html")
    assert text_of(mail) == "I **agree** & more.\nA line"
    mail.set_content("<p>Yes</p>" + "".join(f"<p>{line}</p>" for line in QUOTED), subtype="html")
    assert text_of(mail) == "Yes"
    outlook = f"<p>Yes</p><hr><p><b>From:</b> X<br><b>To:</b> a@x.org<br><b>Subject:</b> y</p><p>{MARKER}</p>"
    mail.set_content(outlook, subtype="html")
    assert text_of(mail) == "Yes"


def test_mails_of_programs_are_told_from_those_of_people():
    assert not [one for one in AUTOMATIC if not IncomingMail.of(f"{one}\n\nHi".encode()).is_automatic]
    for head in ("Auto-Submitted: no", "Precedence: normal", "Return-Path: <alice@example.org>", "X-Mailer: y"):
        assert not IncomingMail.of(f"{head}\n\nHi".encode()).is_automatic


def test_several_senders_are_several():
    for head, senders in (
        ("From: Alice <alice@example.org>", ["alice@example.org"]),
        ("From: alice@example.org, bob@example.org", ["alice@example.org", "bob@example.org"]),
        ("From: alice@example.org\nFrom: bob@example.org", ["alice@example.org", "bob@example.org"]),
        ('From: "alice@example.org" <bob@example.org>', ["bob@example.org"]),
        ("From: =?utf-8?q?alice=40example=2Eorg?= <bob@example.org>", ["bob@example.org"]),
        ("Subject: x", []),
    ):
        assert IncomingMail.of(f"{head}\n\nHi".encode()).senders == senders


@for_each("name", HOSTILE)
@pytest.mark.hostile
def test_no_mail_is_much_work_or_raises_anything_but_that_it_is_unreadable(name):
    raw = HOSTILE[name].encode()[:MOST_BYTES]

    def read() -> None:
        mail = IncomingMail.of(raw)
        assert isinstance(mail.is_automatic, bool)
        assert len(mail.recipients) + len(mail.senders) + len(mail.header("Message-ID")) < MOST_BYTES
        with suppress(Unreadable):
            assert len(mail.text) <= 2 * MOST_BYTES

    assert work_in(read) < 200_000


def test_what_follows_the_head_is_not_looked_at_before_its_text_is_asked_for():
    def head_of(name: str) -> int:
        return work_in(lambda: IncomingMail.of(HOSTILE[name].encode()).senders)

    assert (
        max(map(head_of, ("parts in parts, with lines", "many parts", "900 parts in parts, and empty lines")))
        < 300
    )


def test_parts_are_read_as_the_standard_says():
    plain = "Content-Type: text/plain\n\n"
    for body, text in {
        f"preamble\n--b \t\n{plain}One\n\n--b--\nepilogue\n--b\n\nTwo": "One\n",
        f"--b\r\n{plain}One\r\n--b--": "One",
        "--b\n\nOne\n--bb\nTwo\n --b\nThree\n--b-\nFour\n--b--": "One\n--bb\nTwo\n --b\nThree\n--b-\nFour",
        "--b\n\nOne": "One",
        "--b\n\n--b\n\nTwo\n--b--": "\n\nTwo",
        "--b\nContent-Type: multipart/alternative; boundary=bc\n\n--bc\n\nOne\n--b\n\nTwo\n--b--": "One\n\nTwo",
        f"--b\nContent-Type: message/rfc822\n\n{plain}Not mine\n--b\n\nOne\n--b--": "One",
    }.items():
        for boundary in ("boundary=b", 'x=y; Boundary = "b"', 'boundary="b "'):
            assert text_of(f"Content-Type: multipart/mixed; {boundary}\n\n{body}") == own_text(text), body


HTML = {
    "<p>One</p><p>Two</p>": "One\n\nTwo",
    "<div>One</div>\n <div>Two</div>": "One\nTwo",
    "a<br>b<br/><br>c": "a\nb\n\nc",
    "<ul><li>a</li><li>b</li></ul>c": "* a\n* b\n\nc",
    "<blockquote>a<br>b</blockquote>c": "c",
    "<b>a</b> <i> b </i>, <strong><em>c</em></strong>": "**a**  *b* , ***c***",
    '<a href="https://e.org/x">here</a> <a href="https://e.org/">https://e.org/</a>': "[here](https://e.org/x) https://e.org/",
    '<a href="javascript:x">here</a>': "here",
    "<style>p {}</style><title>t</title><script>x</script>a": "a",
    "<pre>a\n  b</pre>": "a\n  b",
    "1 &lt; 2 &amp;&amp; 3 * 4": "1 < 2 && 3 * 4",
    "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a  b \nc ",
    'good <img alt="😀" src="x">': "good 😀",
    "a <b>unclosed": "a **unclosed**",
    "<figure>a<figcaption>b</figcaption></figure>c<address>d</address>e<aside>f</aside>g": "a\nb\nc\nd\ne\nf\ng",
    "<center>a</center>b<details><summary>c</summary>d</details>": "a\nb\nc\nd",
}


@for_each("html", HTML)
def test_html_is_read_as_the_text_that_it_shows(html):
    assert text_of(f"Content-Type: text/html\n\n{html}").strip() == HTML[html].strip()


def test_of_a_mail_that_is_too_large_only_the_head_is_read():
    mail = IncomingMail.of(b"From: alice@example.org\n\n" + b"x" * MOST_BYTES)

    assert (mail.is_whole, mail.senders) == (False, ["alice@example.org"])
    with pytest.raises(Unreadable):
        assert mail.text
