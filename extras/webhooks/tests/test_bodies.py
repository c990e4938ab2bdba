"""What members write stays text in every form: read by small readers of each program's markup."""

import json
import re
from html.parser import HTMLParser

import pytest

from extras.webhooks.bodies import DISCORD, FORMS, MATRIX, NTFY, SLACK, STANDARD, Happened, body_for

ADDRESS = "https://news.example.org/articles/42/"
JOINER = "\u2060"

HOSTILE = (
    "x [free](https://evil.example)", "x [free](<https://evil.example> 'title')", "[a]: https://evil.example",
    "x](https://evil.example) [y", "![picture](https://evil.example/a.png)",
    "[![p](https://evil.example/a.png)](https://evil.example)",
    "\\[free\\](https://evil.example)", "\\\\[free](https://evil.example)",
    "<https://evil.example|free>", "<https://evil.example>", "<mailto:mallory@evil.example|write>",
    "<a href='https://evil.example'>free</a>", '"><script>alert(1)</script>',
    "</a><a href=https://evil.example>free", "&lt;https://evil.example|free&gt;",
    "&#91;free&#93;(https://evil.example)", "https://evil.example/(a)|b>c", "http://evil.example",
    "www.evil.example", "WWW2.evil.example/a", "mallory@evil.example", "@everyone @here",
    "@channel @all @room", "@alice:example.org", "<!channel> <!here> <!everyone>", "<!subteam^S012AB3CD|team>",
    "<!date^1392734382^{date}^https://evil.example/|free>", "<@U012AB3CD> <#C012AB3CD>",
    "<@80351110224678912> <@!80351110224678912> <@&165511591545143296> <#103735883630395392>",
    "</airhorn:816437322781949972>", "<:mmLol:216154654256398347> <a:b1nzy:392938283556143104>",
    "<t:1618953630:R> <id:customize> <sound:1:2>", ":smile: :+1: :a_b-c:",
    "*a* **b** ***c*** _d_ __e__ ___f___", "~a~ ~~b~~ ||spoiler||", "`code` ``co`de`` ```block```",
    "# heading", "-# small", "> quoted", ">>> quoted", "- item", "+ item", "* item", "1. item",
    "--- a ===", "#hashtag ~channel", "snake_case_name a_nn ann__", "¯\\_(ツ)_/¯",
    "| a | b |", "a\nb\r\n# c\u2028- d\tx",
    "{{.Title}} ${jndi:ldap://evil.example} %(name)s %s", "Actions: view, free, https://evil.example",
    "ends with \\", "ends with https:", "你好，[世界](https://evil.example)",
)  # fmt: skip


def said(form: str, line: str, address: str = ADDRESS) -> tuple[object, dict[str, str]]:
    body = body_for(form, Happened("article.posted", "2026-11-27T09:30:00Z", line, address, {}))
    return body.content.decode() if form == NTFY else json.loads(body.content), body.headers


def one_line(line: str) -> str:
    return " ".join(line.split())


def lines() -> list[str]:
    return [line for text in HOSTILE for line in (text, f"alice posted “{text}”", f"Member banned: bob – {text}")]


@pytest.mark.parametrize("line", lines())
def test_discord_shows_what_members_write_as_it_is(line):
    said_there, _headers = said(DISCORD, line)
    text, link = said_there["content"].split("\n")

    assert link == f"<{ADDRESS}>"
    assert said_there["allowed_mentions"] == {"parse": []}
    assert re.fullmatch(r"(?:\\[^0-9A-Za-z\s]|[0-9A-Za-z\s]|[^\x00-\x7f])*", text), "a mark that is not escaped"
    assert re.sub(r"\\(.)", r"\1", text) == one_line(line)


MATTERMOST_READS = {
    "a link of Slack": r"<[^>]*>",
    "Markdown": r"(?<!\\)(?:\\\\)*[`*_~\[\]#]",
    "an address": r"(?i)\b(?:[a-z][a-z0-9+.-]*:(?:\w|//)|www[0-9]{0,3}\.\w)",
    "a mention": r"@\w",
    "an emoji": r":[\w+-]+:",
    "a block": r"^\s*(?:[-+*>#=|~`]|[0-9]+[.)])",
}


@pytest.mark.parametrize("line", lines())
def test_slack_and_mattermost_show_what_members_write_as_it_is(line):
    said_there, _headers = said(SLACK, line)
    (shown, link) = (block["text"] for block in said_there["blocks"])
    text, address = said_there["text"].split("\n")

    assert shown == {"type": "plain_text", "text": one_line(line), "emoji": False}
    assert link == {"type": "mrkdwn", "text": f"<{ADDRESS}>"}
    assert address == ADDRESS
    assert [what for what, form in MATTERMOST_READS.items() if re.search(form, text)] == []
    read = re.sub(r"\\([\\`*_~\[\]#])", r"\1", text).replace(JOINER, "")
    assert read.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == one_line(line)


class Html(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.text = list[object](), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *attrs))

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("line", lines())
def test_matrix_shows_what_members_write_as_it_is_and_calls_no_one(line):
    said_there, _headers = said(MATRIX, line)
    html = Html(said_there["html"])

    assert html.tags == [("a", ("href", ADDRESS))]
    assert html.text.replace(JOINER, "") == one_line(line)
    assert said_there["text"].replace(JOINER, "") == f"{one_line(line)} {ADDRESS}"
    assert not re.search(r"@\w", html.text + said_there["text"])


@pytest.mark.parametrize("line", lines())
def test_ntfy_and_json_carry_what_members_write_as_it_is(line):
    assert said(NTFY, line) == (one_line(line), {"Content-Type": "text/plain; charset=utf-8", "Click": ADDRESS})
    assert said(STANDARD, line)[0]["line"] == line


@pytest.mark.parametrize("sign", ">|()<\"'` \\[]*\n\r")
def test_no_sign_of_an_address_ends_its_link(sign):
    for form in sorted(set(FORMS) - {STANDARD}):
        content, headers = said(form, "A title", f"{ADDRESS}{sign}x")
        texts = (headers["Click"],) if form == NTFY else re.findall(r"https://news[^\s\"]*", json.dumps(content))
        assert texts
        assert all(f"%{ord(sign):02X}x" in text for text in texts), form
