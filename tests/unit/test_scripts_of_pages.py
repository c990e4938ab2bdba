"""The scripts of pages: small, documented, without text for readers, and never inline in a page."""

import re

import pytest
from django.conf import settings

SCRIPTS = sorted(
    one for at in ("static/js/*", "extras/*/static/js/*") for one in settings.BASE_DIR.glob(f"{at}.js")
)
TEMPLATES = sorted(
    one for at in ("templates", "extras/*/jinja2") for one in settings.BASE_DIR.glob(f"{at}/**/*.html")
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_script_begins_with_its_purpose_and_uses_strict_mode(script):
    text = script.read_text("utf-8")

    assert text.startswith("// ")
    assert '"use strict"' in text
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_no_script_contains_text_for_readers(script):
    code = re.sub(r"//.*", "", script.read_text("utf-8"))
    strings = re.findall(r'"([^"\n]*)"|`([^`]*)`', code)

    words = [text for pair in strings for text in pair if re.search(r"[A-Z][a-z]+ [a-z]+|[\u4e00-\u9fff]", text)]
    assert words == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_no_template_contains_an_inline_script_style_or_handler(template):
    text = template.read_text("utf-8")

    assert not re.search(r"<script(?![^>]*\b(?:src=|ld\+json))|<style|\sstyle=|\son[a-z]+=|javascript:", text)
