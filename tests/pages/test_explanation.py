"""The page that explains an article's rank, and the numbers of the article's own page."""

import re
from html import unescape

import pytest
from django.test import Client

from articles.domain.articles import Choice, ImportedArticle
from articles.formatting.values import full_date
from tests.factories import actor, post_as
from tests.store_state import set_clock

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def page_of(article, browser=None) -> str:
    answer = (browser or Client()).get(f"/articles/{article}/")
    assert answer.status_code == 200
    return answer.content.decode()


def why_page_of(article, browser=None) -> str:
    answer = (browser or Client()).get(f"/articles/{article}/why/")
    assert answer.status_code == 200
    return answer.text


def section_of(article, browser=None) -> str:
    found = re.search(r'<div class="why">.*?</main>', why_page_of(article, browser), re.DOTALL)
    assert found
    return found[0]


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


@pytest.fixture
def old(site_store):
    """An article closed to voting, with more votes against it than for it."""
    rows = [ImportedArticle("Old", "https://example.org/old", 0, "", site_store.store.now() - 30 * 86400, 1, 4)]
    return site_store.imports.add(rows)[0]


def test_the_page_explains_the_rank_in_plain_words(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    post_as(site_store, bob, "Another", "https://example.org/b")

    text = words(section_of(article))

    assert "Why it ranks here" in text
    assert (
        "It was posted just now, and its 2 points lift it as if it had been posted 14 minutes 24 seconds later."
        in text
    )
    assert "No. 1 Front page of 2" in text
    assert "No. 1 Python of 1" in text


def test_one_sentence_says_why_and_the_rest_is_collapsed(site_store, article, bob):
    post_as(site_store, bob, "Newer", "https://example.org/b")
    for voter in (50, 51):
        site_store.votes.cast(article, voter, Choice.OPPOSE)
    post_as(site_store, bob, "Newest", "https://example.org/c")

    section = section_of(article)
    shown, *folded = section.split("<details")

    sentence = "Number 3 on the front page with −1 point: 1 for, 2 against, posted just now."
    assert words(shown) == f" Why it ranks here A title {sentence} "
    assert [fold.partition(">")[0] for fold in folded] == [' class="fold"'] * len(folded)  # none is open
    assert "1 for, 2 against" in words("".join(folded))


def test_the_first_view_puts_an_article_on_the_hot_list(site_store, article):
    page_of(article, Client(headers={"user-agent": FIREFOX}))

    text = words(section_of(article))

    assert "It is not on the hot list" not in text
    assert "No. 1 Hot list of 1" in text
    assert "Views each counts 1 1 Visitors each counts 1.2 1 Together 1 × 1 + 1.2 × 1 2.2" in text
    assert re.search(r"Divided by its age \([\d.]+ hours \+ 2\) to the power of 1\.5 ÷ [\d.]+ Hotness", text)


def test_the_score_is_shown_as_a_sum(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    stored = site_store.articles.get(article)

    text = words(section_of(article))

    assert "1 for, 1 against; each point is worth 7 minutes 12 seconds + 0 seconds" in text
    assert text.count(full_date(stored.posted_at)) == 2  # when it was posted, and the time it ranks as
    assert "Votes for and against are equal, so only its age counts" in text


def test_neighbours_are_links_with_the_difference(site_store, article, bob):
    other = post_as(site_store, bob, "The <other> one", "https://example.org/b").id
    for voter in (50, 51):
        site_store.votes.cast(other, voter, Choice.VOTE)

    section = section_of(article)

    assert f'<a href="/articles/{other}/" dir="auto">The &lt;other&gt; one</a>' in section
    assert re.search(r"Ahead by 14 minutes 2[4-9] seconds: [23] votes would close the gap\.", section)
    assert "Just above, at number 1:" in section
    assert "Below it" not in section


def test_it_says_what_one_more_vote_would_do(site_store, article, bob):
    site_store.votes.cast(post_as(site_store, bob, "B", "https://example.org/b").id, 50, Choice.VOTE)
    site_store.votes.cast(article, 51, Choice.VOTE)
    third = post_as(site_store, bob, "C", "https://example.org/c").id

    one_place, top = words(section_of(third)), words(section_of(article))

    assert "One more vote would add 7 minutes 12 seconds and lift it 2 places, to number 1." in one_place
    assert re.search(r"\d places?, to number|already at the top", top)


def test_a_closed_article_says_that_its_score_is_final(site_store, article, old):
    text = words(section_of(old))

    assert "so it ranks as if posted 21 minutes 36 seconds earlier" in text
    assert "Voting is closed, so its score is final" in text
    assert "One more vote" not in text
    assert "− 21 minutes 36 seconds" in text


def test_the_rank_history_is_drawn_and_described(site_store, article):
    real = site_store.store.now()
    for seconds in range(3600, -1, -600):
        set_clock(site_store, real - seconds)
        site_store.history.record()
    set_clock(site_store, real)

    section = section_of(article)

    assert "On the front page: best rank 1, latest rank 1." in section
    assert section.count('id="past-1-1-title"') == 1
    assert "<table>" in section.partition('id="past-1-1-title"')[2]


def test_an_article_without_rank_history_says_why(site_store, article):
    assert "This article has not been among them in the last 7 days." in section_of(article)


def test_the_explanation_is_one_click_from_the_article_and_counts_no_view(site_store, article):
    address = f"/articles/{article}/why/"
    assert f'<a href="{address}">Why it ranks here</a>' in page_of(article)

    answer = Client(headers={"user-agent": FIREFOX}).get(address)

    assert f'<a href="/articles/{article}/" dir="auto">A title</a>' in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert site_store.articles.get(article).pv == 0


def test_a_search_is_explained_from_its_result_on(site_store, article, alice):
    site_store.articles.post(alice.pk, "alice", "Other", "https://example.org/title", ())
    found = Client().get("/search/?q=titles+pyth").text

    (address,) = re.findall('<a href="([^"]*)">Why it ranks here</a>', found)
    section = re.search(
        r'<details class="fold" open>.*?</details>', Client().get(unescape(address)).text, re.DOTALL
    )[0]

    assert address == f"/articles/{article}/why/?q=titles+pyth"
    assert '<a href="/search/?q=titles+pyth" dir="auto">titles pyth</a>' in section
    text = words(section)
    assert re.search(r"“titles” in the title, by its stem [\d.]+ “pyth” is the name of one of its groups 5", text)
    assert re.search(r"Together .* ([\d.]+) Raised by points and age .* for 1 point, .* × [\d.]+ Relevance", text)
    assert 'class="fold" open' not in why_page_of(article)
    assert "/why/?" not in Client().get("/search/?q=titles+pyth&order=time").text


@pytest.mark.parametrize("query", ["nothing", "-title", "!!", "%22%3Cscript%3E"])
def test_an_article_that_a_search_does_not_find_says_so(article, query):
    page = Client().get(f"/articles/{article}/why/?q={query}")

    assert page.status_code == 200
    assert "The article does not match this search." in page.text
    assert "<script>" not in page.text.partition("<main")[2]


def test_an_unknown_article_has_no_explanation(site_store, article, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    assert Client().get(f"/articles/{article}/why/").status_code == 404
    assert Client().get("/articles/999/why/").status_code == 404
