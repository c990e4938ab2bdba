"""The search page: its form, what it shows, and what it leaves out."""

import html
import re
from urllib.parse import quote

import pytest
from django.test import Client

from articles.domain.articles import Choice
from articles.repository.finding import Finder, Index
from articles.text.searching import marking
from tests.cast import MODERATOR
from tests.factories import actor, member, post_as
from tests.pages.lists import rows
from tests.store_state import set_clock
from tests.work import work_in


def post(site_store, user, title, *groups):
    return site_store.articles.post(
        user.pk, user.username, title, f"https://example.org/{quote(title)}", groups
    ).id


def text_of(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def test_found_articles_have_the_words_highlighted(site_store, alice):
    article = post(site_store, alice, "Voting <b>on</b> Straße")
    post(site_store, alice, "Another")

    response = Client().get("/search/?q=vote+STRASSE")

    assert rows(response) == [article]
    page = text_of(response)
    assert "<mark>Voting</mark> &lt;b&gt;on&lt;/b&gt; <mark>Straße</mark>" in page
    assert 'aria-label="Vote for “Voting &lt;b&gt;on&lt;/b&gt; Straße”"' in page or "Voting &lt;b&gt;" in page
    assert "1 article found" in page
    assert 'data-told="1 article found"' in page


def test_an_index_that_is_being_built_is_said_to_be(site_store, alice, monkeypatch):
    post(site_store, alice, "Voting")
    monkeypatch.setattr("articles.views.lists.search.finder", lambda: Finder(Index()))

    page = text_of(Client().get("/search/?q=vote"))

    assert "The search index is being built: 0%. There may be more results." in page
    assert "No results" not in page


def test_results_are_best_or_newest_first_with_links_between_both(site_store, alice, bob):
    set_clock(site_store, 1_700_000_000.0)
    site_store.clock.accept()
    first = post(site_store, alice, "redis one")
    set_clock(site_store, 1_700_000_010.0)
    second = post(site_store, alice, "redis two")
    site_store.votes.cast(first, bob.pk, Choice.VOTE)

    best, newest = Client().get("/search/?q=redis"), Client().get("/search/?q=redis&order=time")

    assert rows(best) == [first, second]
    assert rows(newest) == [second, first]
    assert 'href="/search/?q=redis&amp;order=time"' in text_of(best)
    assert 'href="/search/?q=redis"' in text_of(newest)


def test_a_merged_group_redirects_and_an_unknown_one_is_404(site_store, alice, carol):

    post(site_store, alice, "redis", "java")
    site_store.groups.create("python", "Python")
    site_store.groups.merge("java", "python", actor(carol))

    response = Client().get("/search/?q=redis&group=java&page=1")

    assert (response.status_code, response["Location"]) == (302, "/search/?q=redis&group=python&page=1")
    for name in ("unknown", "%2F"):
        assert Client().get(f"/search/?q=redis&group={name}").status_code == 404


def test_a_search_in_a_hidden_group_finds_its_articles(site_store, alice):
    for slug in ("python", "web"):
        site_store.groups.create(slug, slug)
    for number, slugs in enumerate((["python"], ["python", "web"], ["web"])):
        post_as(site_store, alice, "Redis", f"https://example.org/{number}", slugs)
    browser = Client()
    browser.cookies["hidden"] = "python"

    assert rows(browser.get("/search/?q=redis&group=python&order=time")) == [2, 1]
    assert rows(browser.get("/search/?q=redis&group=web")) == [3]


def test_a_search_without_results_says_what_to_do(site_store, alice):
    post(site_store, alice, "redis", "python")

    page = text_of(Client().get("/search/?q=nothing&group=python"))

    assert "No results" in page
    assert 'href="/search/?q=nothing">Search in all groups' in page


def test_a_query_without_words_says_so(site_store):
    assert "Enter letters or digits" in text_of(Client().get("/search/?q=%3F%21"))


def test_the_query_is_shown_escaped_and_truncated(site_store):
    page = text_of(Client().get("/search/?q=%22%3E%3Cscript%3E" + "x" * 300))

    assert "<script>" not in re.sub(r'<script src="[^"]*" defer>', "", page)
    (value,) = re.findall(r'id="id_q" value="([^"]*)"', page)
    assert len(html.unescape(value)) == 200


def test_a_trailing_space_is_kept_and_completes_the_last_word(site_store):
    site_store.articles.post(5, "bob", "Google", "https://example.org/1")

    pages = [Client().get("/search/", {"q": text}).content.decode() for text in ("  goog", " goog  ", "google\t ")]

    assert [page.count('id="article-') for page in pages] == [1, 0, 1]
    assert ['value="goog"' in pages[0], 'value="goog "' in pages[1]] == [True, True]
    assert "q=google+&amp;order=time" in pages[2]


def test_the_comments_tab_keeps_the_query_and_lists_comments_with_their_articles(site_store, alice, bob):
    site_store.groups.create("db", "Data")
    article = post(site_store, alice, "Redis <b>", "db")
    text = "Word " * 80 + "then <i>databases</i> and " + "more " * 80
    comment = site_store.comments.post(article, bob.pk, bob.username, text)

    other = text_of(Client().get("/search/?q=database&group=db"))
    page = text_of(Client().get("/search/?q=database&group=db&kind=comments"))

    address = html.escape("/search/?q=database&kind=comments&group=db")
    assert f'<a href="{address}">Comments 1</a>' in other
    assert f'<a href="{address}" aria-current="true">Comments 1</a>' in page
    assert '<input type="hidden" name="kind" value="comments">' in page
    assert 'data-told="1 comment found"' in page
    assert f'href="/comments/{comment}/"' in page
    assert f'<a href="/articles/{article}/" dir="auto">Redis &lt;b&gt;</a>' in page
    assert ">bob</a>" in page
    assert "then &lt;i&gt;<mark>databases</mark>&lt;/i&gt;" in page
    assert re.search(r'<p dir="auto">…Word .{200,400}…</p>', page)
    assert "application/atom+xml" not in page.partition("</head>")[0]
    assert Client().get("/search/?kind=other").status_code == 404


@pytest.mark.deep
def test_comments_of_the_greatest_length_are_found_with_little_work(site_store, alice):
    query = "甲乙丙丁戊己庚辛壬癸子丑"
    for number in range(site_store.store.rules.per_page):
        article = post(site_store, alice, f"Article {number}")
        site_store.comments.post(
            article, alice.pk, alice.username, "文" * 100 + query + "中" * 19_800 + str(number)
        )
    Client().get("/search/?q=other")  # indexes them

    address, pages = f"/search/?q={quote(query)}&kind=comments", list[str]()
    calls = work_in(lambda: pages.append(text_of(Client().get(address))), marking.__name__)

    assert calls < 60_000  # they would be more if each pair were compared with each term
    assert pages[0].count("<mark>") == site_store.store.rules.per_page


def test_comments_that_are_not_shown_are_not_found(site_store, alice, bob):
    first, second = (post(site_store, alice, title) for title in ("One", "Two"))
    removed = site_store.comments.post(first, bob.pk, bob.username, "databases")
    site_store.comments.post(second, bob.pk, bob.username, "databases")
    site_store.comments.remove(removed, MODERATOR, "Spam")
    site_store.articles.remove(second, MODERATOR, "Spam")

    page = text_of(Client().get("/search/?q=databases&kind=comments"))

    assert "No results" in page
    assert "All words must match." in page


def test_the_tabs_count_what_is_found_of_each_kind(site_store, alice, bob):
    site_store.groups.create("alder", "Alder trees")
    article = post(site_store, alice, "Alder", "alder")
    site_store.comments.post(article, bob.pk, bob.username, "An alder")
    member("alder-fan")

    page = text_of(Client().get("/search/?q=alder"))
    groups, members = (text_of(Client().get(f"/search/?q=alder&kind={kind}")) for kind in ("groups", "members"))

    tabs = ("Articles 1</a>", "Comments 1</a>", "Groups 1</a>", "Members 1</a>")
    assert [tab for tab in tabs if tab not in page] == []
    assert '<a href="/groups/alder/" dir="auto">Alder trees</a>' in groups
    assert '<a href="/users/alder-fan/" dir="auto">alder-fan</a>' in members
    assert "Groups" not in text_of(Client().get("/search/?q=nothing")).partition('id="found"')[2]


def test_a_match_in_a_text_is_shown_with_a_part_of_it(site_store, alice):
    text = "Before. " * 60 + "A <i>hedgehog</i> & more. " + "After. " * 60
    site_store.articles.post(alice.pk, "alice", "Ask: animals", "", text=text)
    site_store.articles.post(alice.pk, "alice", "Another hedgehog", "", text="Nothing of them")

    page = text_of(Client().get("/search/?q=hedgehogs"))

    assert "A &lt;i&gt;<mark>hedgehog</mark>&lt;/i&gt; &amp; more." in page
    assert page.count('<p class="excerpt"') == 1


def test_what_is_no_filter_is_named_and_a_mistake_is_mended(site_store, alice):
    post(site_store, alice, "Python and Redis")

    page = text_of(Client().get("/search/?q=pyhton+langage:x"))
    other = text_of(Client().get("/search/?q=pyhton"))

    assert "“langage:” isn’t a search filter" in page
    assert 'Did you mean <a href="/search/?q=python" dir="auto">python</a>?' in other
    assert "Did you mean" not in text_of(Client().get("/search/?q=python"))


def test_all_articles_from_a_host_are_on_its_page(site_store, alice, bob):
    first = site_store.articles.post(alice.pk, "alice", "One", "https://docs.example.org/1").id
    second = site_store.articles.post(alice.pk, "alice", "Two", "https://www.example.org/2").id
    site_store.articles.post(alice.pk, "alice", "Three", "https://example.com/3")
    site_store.votes.cast(first, bob.pk, Choice.VOTE)

    newest, top = Client().get("/hosts/example.org/"), Client().get("/hosts/example.org/?order=points")

    assert rows(newest) == [second, first]
    assert rows(top) == [first, second]
    assert "2 articles · 3 points" in text_of(newest)
    assert rows(Client().get("/hosts/docs.example.org/")) == [first]
    assert '<a class="host" href="/hosts/docs.example.org/"' in text_of(Client().get("/newest/"))
    assert "<entry>" in Client().get("/feeds/hosts/example.org.atom").text
    assert "/hosts/example.org/</loc>" in Client().get("/sitemap-lists.xml").text
    assert Client().get("/hosts/Example.ORG/").headers["Location"] == "/hosts/example.org/"
    for address in ("/hosts/nothing.example/", "/hosts/no host/", "/hosts/example.org/?order=x"):
        assert Client().get(address).status_code == 404, address
