"""The first pages of a process, whose readers should not wait for what could be done before."""

import pytest
from django.template import engines

from tests.factories import browser_of, comment_on
from voting_site.jinja import load_most_read


@pytest.fixture
def env():
    """The environment of all pages, with nothing loaded."""
    env = engines["jinja2"].env
    env.cache.clear()
    yield env
    env.bytecode_cache = None


def test_templates_are_compiled_once_for_a_version_even_if_nothing_can_be_written(env, tmp_path, monkeypatch):
    (tmp_path / f"{16 * '0'}-{40 * 'a'}").touch()  # of an earlier version
    (tmp_path / "base.html").touch()  # of someone else
    load_most_read(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(env.cache) + 1 > 50
    assert (tmp_path / "base.html").exists()
    env.cache.clear()
    with monkeypatch.context() as patched:
        patched.setattr(env, "compile", lambda *_: pytest.fail("it is compiled again"))
        load_most_read(tmp_path)
    env.cache.clear()

    load_most_read(tmp_path / "no" / "folder")

    assert len(env.cache) > 50


def test_lists_and_articles_load_no_template(site_store, article, alice, client, env, tmp_path):
    comment_on(site_store, article, "A comment")
    templates = env.cache
    load_most_read(tmp_path)
    loaded = {name for _, name in templates}

    for reader in (client, browser_of(alice)):
        for page in ("/", "/newest/", "/hot/", f"/articles/{article}/"):
            assert reader.get(page).status_code == 200

    assert {name for _, name in templates} - loaded == set()
