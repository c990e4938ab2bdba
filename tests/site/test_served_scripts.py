"""Served scripts: identical to their sources except for comments and spaces."""

import re

import pytest
from django.conf import settings
from pygments.lexers import JavascriptLexer
from pygments.token import Comment, Whitespace
from rjsmin import jsmin

SOURCES = sorted(one for at in ("static", "extras/*/static") for one in settings.BASE_DIR.glob(f"{at}/js/*.js"))

MODERN = [
    "const a = b?.c ?? d?.[ 0 ]?. e?.();",
    "const a = `two  spaces ${ b +  c } // no comment  /* nor this */  ${ d }`;",
    'const a = b.replace(/ +[/\'"`]{2,}  x/g, " "), c = / / / d / e;',
    'const a = b\n  ? / [/] " /u.test(c)\n  : .5 +  +d - -e;',
    "class A {\n  #own = 1;\n  static b = 2;\n  get #c() { return this.#own }\n  async  *d() { yield  * e }\n}",
    "for await  (const { a, ...b } of  c) d  ||= e ** 2, f  ??= 30_000;",
    "const a = { async  *[Symbol.iterator]() {}, get  b() { return 1 } };",
    "let a = 'it\\'s  //a string'; // this is not",
]


def words(script):
    """Return every token of the script but comments and spaces."""
    tokens = JavascriptLexer(stripnl=False, ensurenl=False).get_tokens(script)
    return [text for kind, text in tokens if kind not in Comment and kind not in Whitespace and text.strip()]


def literals(script):
    """Return all template literals and regular expressions, with their spaces."""
    tokens = list(JavascriptLexer(stripnl=False, ensurenl=False).get_tokens(script))
    return [text for kind, text in tokens if "String" in str(kind)]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_script_is_served_unchanged_without_comments(static_files, source):
    written = source.read_text("utf-8")
    (found,) = (static_files / "js").glob(f"{source.stem}.????????????.js")
    served = found.read_text("utf-8")

    assert words(served) == words(written)
    assert literals(served) == literals(written)
    assert len(served) < len(written)
    assert not re.search(r"^//|  ", served, re.MULTILINE)


@pytest.mark.parametrize("script", MODERN)
def test_minifying_modern_syntax_removes_only_spaces(script):
    served = jsmin(script)

    assert words(served) == words(script)
    assert literals(served) == literals(script)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_no_regular_expression_can_be_mistaken_for_a_division(source):
    assert not re.search(r"(=>|\b(case|delete|in|of|typeof|void|yield))\s*/[^/*]", source.read_text("utf-8"))
