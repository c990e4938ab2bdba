"""Earlier articles of the same link, on the post form, on the page of an article, and for programs."""

import pytest
from django.test import Client

from articles.web import wiring
from tests.factories import actor, browser_of, comment_on, post_as
from tests.store_state import expire_link

LINK = "https://example.org/a"


@pytest.fixture
def again(site_store, bob):
    """Post the link again under a title, in another spelling, when that is possible; return its number."""

    def post(title, by=bob, link="http://www.example.org/a/?utm_source=x"):
        expire_link(site_store, LINK)
        number = post_as(site_store, by, title, link).id
        wiring.finder()
        return number

    return post


def listed(response):
    """Return the part of a page that lists earlier articles."""
    return response.text.partition('<section class="before"')[2].partition("</section>")[0]


def test_the_page_lists_earlier_articles_of_its_link_with_their_discussions(site_store, article, again, bob):
    comment_on(site_store, article, "First", bob.pk)
    number = again("Posted again")

    shown = listed(Client().get(f"/articles/{number}/"))

    assert f'<a href="/articles/{article}/" dir="auto">A title</a>' in shown
    assert "1 comment<" in shown
    assert listed(Client().get(f"/articles/{article}/")) == "", "not the later ones"


def test_only_the_newest_are_listed_and_the_others_counted(site_store, article, again):
    numbers = [again(f"Title {n}") for n in range(7)]

    shown = listed(Client().get(f"/articles/{numbers[-1]}/"))

    found = [number for number in (article, *numbers) if f"/articles/{number}/" in shown]
    assert found == numbers[1:6]
    assert "And 2 older articles." in shown


def test_what_was_removed_or_has_another_link_is_not_listed(site_store, article, again, alice, carol):
    second, third = again("Second", alice), again("Third", alice)
    site_store.articles.remove(article, actor(carol), "spam")
    site_store.articles.edit(second, actor(carol), "Second", "https://example.org/b", moderator=True)

    assert listed(Client().get(f"/articles/{third}/")) == "", "before the index knows"
    wiring.finder()
    assert listed(Client().get(f"/articles/{third}/")) == ""
    assert listed(Client().get(f"/articles/{second}/")) == ""


@pytest.mark.parametrize("change", ["remove", "edit"])
def test_no_copy_shows_earlier_articles_taken_back(kept, outage, site_store, article, again, carol, change):
    number = again("Posted again")
    assert "A title" in Client().get(f"/articles/{number}/").text
    if change == "remove":
        site_store.articles.remove(article, actor(carol), "spam")
    else:
        site_store.articles.edit(article, actor(carol), "Improved", LINK, moderator=True)
    outage()

    assert "A title" not in Client().get(f"/articles/{number}/").text


def test_the_form_lists_them_for_a_script_and_without_one(site_store, article, again, bob):
    newest, browser = again("Posted again"), browser_of(bob)
    expire_link(site_store, LINK)

    for html in (
        browser.get("/post/known/", {"link": LINK}).json()["html"],
        browser.get("/post/", {"link": LINK}).text,
        browser.post("/post/", {"link": LINK, "title": "New", "text": "*a*", "preview": "1"}).text,
    ):
        assert "Posted before:" in html
        assert html.index(f"/articles/{newest}/") < html.index(f"/articles/{article}/")


def test_the_form_of_a_new_link_lists_nothing(site_store, article, bob):
    assert "Posted before" not in browser_of(bob).get("/post/", {"link": "https://example.org/new"}).text
    assert "Posted before" not in browser_of(bob).get("/post/", {"link": "javascript:alert(1)"}).text


def test_programs_find_the_articles_of_a_link(site_store, article, again):
    newest = again("Posted again")

    answer = Client().get("/api/posted-before", {"link": f"{LINK}#part"}).json()

    assert ([one["id"] for one in answer["articles"]], answer["total"]) == ([newest, article], 2)
    found = Client().get("/api/posted-before", {"link": "https://example.org/new"}).json()
    assert found == {"articles": [], "next_after": None, "total": 0}
    assert Client().get("/api/posted-before", {"link": "javascript:alert(1)"}).status_code == 400
