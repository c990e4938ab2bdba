import re

from django.test import Client

from articles.domain.articles import Choice
from tests.factories import actor, browser_of, post_as
from tests.store_state import let_close


def test_the_page_shows_title_link_poster_groups_and_counts(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.VOTE)

    text = Client().get(f"/articles/{article}/").content.decode()

    for part in (
        "A title", "https://example.org/a", "/users/alice/", "/groups/python/",
        '<dd data-count="votes">2</dd>', "Voting closes <time",
    ):  # fmt: skip
        assert part in text


def test_a_removed_article_keeps_its_page_with_the_reason(site_store, article, carol):
    site_store.articles.remove(article, actor(carol), "off topic")

    response = Client().get(f"/articles/{article}/")

    text = response.content.decode()
    assert response.status_code == 200
    assert "removed by a moderator" in text
    assert "off topic" in text
    assert 'href="https://example.org/a"' not in text


def test_the_article_page_shows_the_edit_history(site_store, article, carol):
    moderator = actor(carol)
    assert 'class="changes"' not in Client().get(f"/articles/{article}/").content.decode()
    site_store.articles.edit(
        article, moderator, "Better <b>", "https://example.org/b", moderator=True, reason="A & B"
    )
    site_store.groups.create("web", "Web")
    site_store.groups.assign(article, ["web"], ["python"], actor=moderator, reason="About the web")

    text = Client().get(f"/articles/{article}/").content.decode()
    changes = " ".join(re.sub("<[^>]+>", " ", text[text.index('class="changes"') :]).split())

    assert changes.index("carol changed its groups") < changes.index("carol edited the article")
    for part in (
        "added: Web", "removed: Python", "Reason: About the web", "title before: A title",
        "link before: https://example.org/a", "Reason: A &amp; B",
    ):  # fmt: skip
        assert part in changes
    assert "Older changes" not in changes

    for n in range(site_store.store.rules.per_page):
        site_store.articles.edit(article, moderator, f"T {n}", "https://example.org/b", moderator=True)
    text = Client().get(f"/articles/{article}/").content.decode()
    assert text.count('class="entry change-edit"') == site_store.store.rules.per_page
    assert "Older changes are recorded in the moderation log." in text


def test_an_old_article_shows_that_voting_is_closed_and_no_buttons(site_store, article):
    let_close(site_store, article)

    text = Client().get(f"/articles/{article}/").content.decode()

    assert "Voting closed <time" in text
    assert 'name="choice"' not in text


def test_tools_are_shown_only_to_members_who_may_use_them(site_store, article, alice, bob, carol):
    def tools(user):
        text = browser_of(user).get(f"/articles/{article}/").content.decode()
        return {name for name in ("edit", "groups", "remove") if f"/articles/{article}/{name}/" in text}

    assert tools(alice) == {"edit"}
    assert tools(bob) == set()
    assert tools(carol) == {"edit", "groups", "remove"}


def test_no_archive_is_named_of_private_links_texts_or_removals(site_store, article, alice, carol, settings):
    private = post_as(site_store, alice, "Private", "http://wiki.internal/a").id
    text = post_as(site_store, alice, "A text", "", text="Text").id

    def named():
        return ["archive.org" in Client().get(f"/articles/{one}/").text for one in (article, private, text)]

    assert named() == [True, False, False]
    site_store.articles.remove(article, actor(carol), "spam")
    assert named() == [False] * 3
    site_store.articles.restore(article, actor(carol), "fine")
    settings.ARCHIVES = []
    assert named() == [False] * 3
