"""The Chinese catalogue: complete, current, and written in idiomatic Chinese."""

import gettext
import io
import re
import string

import pytest
from babel.messages.catalog import Message

from bench import messages as catalogues
from bench.messages import texts

HAN = r"[\u3400-\u9fff]"
TO_DO = "Run `make messages`, fill in what it says has no Chinese, and run it again."


def forms(value):
    return (value,) if isinstance(value, str) else tuple(value)


@pytest.fixture(scope="module")
def gathered():
    return catalogues.extracted()


@pytest.fixture(scope="module")
def kept():
    return catalogues.current()


def translations(catalogue) -> list[tuple[Message, str]]:
    return [(message, form) for message in texts(catalogue) for form in forms(message.string)]


def test_the_catalogue_contains_exactly_the_texts_of_the_sources(gathered, kept):
    there, known = ({(m.id, m.context) for m in texts(one)} for one in (gathered, kept))

    assert not there - known, f"New texts. {TO_DO} {sorted(map(str, there - known))}"
    assert not known - there, f"No longer in the sources. {TO_DO} {sorted(map(str, known - there))}"


def test_every_text_has_a_translation(kept):
    assert not catalogues.untranslated(kept), TO_DO


def test_the_file_matches_the_output_of_the_command(gathered, kept):
    found = catalogues.merged(gathered, kept)

    assert catalogues.written(found) == catalogues.PO_PATH.read_text("utf-8"), TO_DO


def test_the_compiled_catalogue_matches_the_source(kept):
    assert catalogues.MO_PATH.read_bytes() == catalogues.compiled(kept), TO_DO


def test_the_traditional_catalogue_is_derived_from_the_simplified_one_with_the_words_of_taiwan(kept):
    traditional = catalogues.derived(kept)

    assert catalogues.DERIVED_PATH.read_bytes() == catalogues.compiled(traditional), TO_DO
    assert not catalogues.untranslated(traditional)
    for (message, simplified), (_, text) in zip(translations(kept), translations(traditional), strict=True):
        assert sorted(re.findall(r"%(?:\(\w+\))?[ds%]", text)) == sorted(
            re.findall(r"%(?:\(\w+\))?[ds%]", simplified)
        ), message.id
        "".join(re.findall(HAN, text)).encode("big5")  # it has no character that is simplified only
        assert not re.search(
            "賬|信息|網絡|軟件|默認|用戶名|登錄|許可權|引數|釋出|[“”‘’隻摺臺后]", text.replace("摺疊", "")
        ), text


def test_gettext_reads_the_compiled_catalogue(kept):
    found = gettext.GNUTranslations(io.BytesIO(catalogues.compiled(kept)))

    assert found.gettext("Front page") == "首页"
    assert {found.ngettext("%(n)s hour ago", "%(n)s hours ago", n) for n in (0, 1, 2, 100)} == {"%(n)s 小时前"}


def test_the_file_contains_no_dates_and_no_names(kept):
    text = catalogues.PO_PATH.read_text("utf-8")

    assert not re.search(r"Date:|@|Translator:|^#: .*:\d+$|^#~|fuzzy", text, re.MULTILINE)


def places(text: str) -> set[str]:
    return set(re.findall(r"%(?:\(\w+\))?[ds]", text.replace("%%", "")))


def test_placeholders_are_the_same_in_both_languages(kept):
    for message, chinese in translations(kept):
        english = forms(message.id)
        assert places(chinese) == set().union(*map(places, english)), english


def test_every_template_text_and_every_text_with_placeholders_can_be_formatted(kept):
    """Jinja formats each text: a lone percent sign would be an error on the page."""
    for message, chinese in translations(kept):
        if ("%(" in chinese) or any(name.startswith("templates/") for name, _line in message.locations):
            for text in (chinese, *forms(message.id)):
                _ = text % dict.fromkeys(re.findall(r"%\((\w+)\)", text), 1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (rf"{HAN}[,;:!?()]|[,;:!?(]\s*{HAN}", "half-width punctuation beside Chinese"),
        (rf"{HAN}\.(?!\w)", "a Latin full stop behind Chinese"),
        (rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}", "no space between Chinese and Latin letters or digits"),
        (rf"{HAN} {HAN}|{HAN} +[，。：；？！、）”]|[，。：；？！、（“] +{HAN}", "a space inside Chinese"),
        (r"您|\.\.\.|''|‘|’", "你, … and “” are used here"),
        (r"用户(?!名)|成员|点赞|投稿|标签|话题|点踩|趋势|帖", "another word for one of the site's words"),
    ],
)
def test_chinese_texts_follow_chinese_typography(kept, wrong, why):
    for _message, chinese in translations(kept):
        if chinese == "n月j日":  # a date is written without spaces
            continue
        plain = re.sub(r"%(?:\(\w+\))?[ds]", "¤", chinese)
        assert not re.search(wrong, plain), f"{why}: {chinese}"


def test_an_english_sentence_stays_a_sentence_in_chinese(kept):
    ends = {".": "。", "?": "？", ":": "："}
    for message, chinese in translations(kept):
        for english in forms(message.id):
            end = ends.get(english[-1])
            is_sentence = end and " " in english
            assert not is_sentence or chinese.endswith((end, "）", "^ gamma。", *string.digits)), chinese


def test_no_translation_is_just_the_english_text(kept):
    same = {forms(m.id)[0] for m, chinese in translations(kept) if chinese in forms(m.id)}

    assert {text for text in same if re.search("[A-Za-z]{2}", re.sub(r"%\(\w+\)[ds]", "", text))} <= {"API"}
