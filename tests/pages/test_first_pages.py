"""The first pages of a process, whose readers should not wait for what could be done before."""

from django.template import engines

from tests.factories import browser_of, comment_on
from voting_site.jinja import load_most_read


def test_lists_and_articles_load_no_template(site_store, article, alice, client):
    comment_on(site_store, article, "A comment")
    templates = engines["jinja2"].env.cache
    templates.clear()
    load_most_read()
    loaded = {name for _, name in templates}

    for reader in (client, browser_of(alice)):
        for page in ("/", "/newest/", "/hot/", f"/articles/{article}/"):
            assert reader.get(page).status_code == 200

    assert {name for _, name in templates} - loaded == set()
