"""What is kept of a text's HTML: recognised only as it was made, of the same text, under the same rules."""

from hypothesis import given, strategies as st

from articles.text import kept_html
from articles.text.kept_html import KeptHtml
from articles.text.markdown import render
from tests.cases import for_each

SITE = KeptHtml("a secret", private_links=False)
TEXTS = st.text() | st.text(alphabet="ab *_`#>-&<\n\xa0\r")


@given(TEXTS)
def test_what_is_kept_is_read_as_the_html_of_the_text(text):
    assert text == "" or SITE.read(SITE.make(text), text) == render(text)


@for_each("text", ["Plain", "Two\n\nparagraphs of a line\nand another", "a < b & c > d \"e\" 'f'"])
def test_a_text_without_marks_takes_no_room_but_for_the_seal(text):
    assert len(SITE.make(text)) == 33


@given(st.binary(min_size=1, max_size=1), st.integers(min_value=0))
def test_html_that_was_changed_is_not_read(byte, place):
    kept = SITE.make("A *text*").encode()
    changed = kept[: (at := place % len(kept))] + byte + kept[at + 1 :]

    assert changed == kept or SITE.read(changed.decode("latin-1"), "A *text*") is None


@for_each(
    "kept", ["", "<script>alert(1)</script>", "0" * 32 + "<script>alert(1)</script>", "0" * 32, "0" * 32 + "="]
)
def test_html_without_the_seal_is_not_read(kept):
    assert SITE.read(kept, "A text") is None


def test_html_of_another_text_or_under_other_rules_is_not_read(monkeypatch):
    kept = SITE.make("A *text*")

    assert SITE.read(kept, "A *text") is None
    assert KeptHtml("a secret", private_links=True).read(kept, "A *text*") is None
    assert KeptHtml("another secret", private_links=False).read(kept, "A *text*") is None
    monkeypatch.setattr(kept_html, "RULES_VERSION", kept_html.RULES_VERSION + 1)
    assert KeptHtml("a secret", private_links=False).read(kept, "A *text*") is None
