"""The scripts in static/js: small, explained, without text of their own, and none inside a page."""

import re
from pathlib import Path

import pytest
from django.conf import settings

SCRIPTS = sorted(Path(settings.BASE_DIR, "static", "js").glob("*.js"))
TEMPLATES = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_each_says_on_top_what_it_is_for_and_runs_strictly(script):
    text = script.read_text("utf-8")

    assert text.startswith("// ")
    assert '"use strict"' in text
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_none_holds_words_for_readers(script):
    code = re.sub(r"//.*", "", script.read_text("utf-8"))
    strings = re.findall(r'"([^"\n]*)"|`([^`]*)`', code)

    words = [text for pair in strings for text in pair if re.search(r"[A-Z][a-z]+ [a-z]+|[\u4e00-\u9fff]", text)]
    assert words == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_no_template_holds_a_script_a_style_or_a_handler(template):
    text = template.read_text("utf-8")

    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text)
