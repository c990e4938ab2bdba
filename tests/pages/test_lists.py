import re
from html import unescape

import pytest
from django.test import Client

from articles.domain.articles import ImportedArticle
from tests.factories import actor, browser_of, member, view
from tests.pages.lists import rows
from tests.store_state import change_article, set_views


def test_the_front_page_of_an_empty_site_says_what_to_do_next(site_store, alice):
    member("root", pk=70, is_superuser=True)

    response = browser_of(alice).get("/")

    assert response.status_code == 200
    assert 'class="button" href="/post/"' in response.text
    assert "Nothing has been posted yet" in response.text


def test_a_merged_group_redirects_until_its_name_is_used_again(site_store, article, carol):
    who = actor(carol)
    site_store.groups.create("snake", "Snake")
    site_store.groups.merge("snake", "python", who)

    response = Client().get("/groups/snake/?order=time&page=1")

    assert (response.status_code, response["Location"]) == (302, "/groups/python/?order=time&page=1")
    assert "no-cache" in response["Cache-Control"]
    together = Client().get("/groups/python+snake/?order=time")
    assert (together.status_code, together["Location"]) == (302, "/groups/python/?order=time")
    site_store.groups.create("snake", "Snake", who)
    assert Client().get("/groups/snake/").status_code == 200


def test_groups_chosen_in_the_index_are_shown_together(site_store, article):
    site_store.groups.create("web", "The Web")
    assert 'type="submit">View selected' in Client().get("/groups/").text

    for query, address in {
        "any=web&any=python": "/groups/python+web/",
        "any=web": "/groups/web/",
        "any=web&any=web&any=no/such&any=%2B": "/groups/web/",
    }.items():
        response = Client().get(f"/groups/?{query}")
        assert (response.status_code, response["Location"]) == (302, address)
    assert Client().get("/groups/?any=no/such").status_code == 200


def test_a_removed_article_leaves_every_list_at_once(site_store, article, carol):
    view(site_store, article, 1)
    paths = ["/", "/newest/", "/hot/", "/hot/?range=24h", "/groups/python/", "/groups/python/?order=hot"]
    paths += ["/users/alice/"]
    assert [rows(Client().get(path)) for path in paths] == [[article]] * len(paths)

    site_store.articles.remove(article, actor(carol), "spam")

    assert [rows(Client().get(path)) for path in paths] == [[]] * len(paths)


CURRENT_LISTS = re.compile(r'<a href="([^"]*)" aria-current="(\w+)"')


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/", ("/", "page")), ("/top/?range=week", ("/", "true")), ("/groups/", ("/groups/", "page")),
        ("/groups/python/", ("/groups/", "true")), ("/groups/python+redis/", ("/groups/", "true")),
        ("/hot/", ("/hot/", "page")),
    ],
)  # fmt: skip
def test_the_menu_marks_the_current_page(site_store, article, path, current):
    site_store.groups.create("redis", "Redis")
    menu = Client().get(path).text.split('<nav class="lists"')[1].split("</nav>")[0]

    assert {*CURRENT_LISTS.findall(menu)} == {current}, "what a phone has no room for is there twice"


def test_a_page_beyond_the_limit_says_where_older_articles_are(site_store, article):
    answer = Client().get("/newest/?page=401")

    assert answer.status_code == 404
    assert "For older articles, use the groups or the search." in answer.content.decode()


def test_no_page_shows_a_number_without_digit_grouping(site_store, article, alice):
    now, poster = site_store.store.now(), (alice.pk, "alice")
    site_store.imports.add(
        [
            ImportedArticle("A title", f"https://example.org/{n}", *poster, now - n, 1, 0, ("python",))
            for n in range(1, 1703)
        ]
    )
    change_article(site_store, article, {"votes": 23456, "opposes": 3456})
    set_views(site_store, article, 34567)
    paths = ["/newest/", "/groups/", "/groups/python/", "/search/?q=title", "/users/alice/", "/articles/1/"]

    texts = {path: visible(browser_of(alice).get(path)) for path in (*paths, "/newest/?page=67")}

    for path, text in texts.items():
        assert re.findall(r"(?<![\d,.])(?!(?:19|20)\d\d\b)\d{4,}", text) == [], path
    assert "1,703 articles" in texts["/groups/"]
    assert re.search(r"20,000\s+points", texts["/newest/"])
    assert "34,56" in texts["/articles/1/"]


def visible(response) -> str:
    """Return the page as a reader sees it: its title and text, and the text of labels and tooltips."""
    page = re.sub(r"<(?:style|script|svg)\b.*?</\w+>", "", response.text, flags=re.DOTALL)
    told = re.findall(r' (?:title|aria-label)="([^"]*)"', page)
    return unescape("\n".join([re.sub("<[^>]*>", " ", page), *told]))
