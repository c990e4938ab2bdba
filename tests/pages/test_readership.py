import re

import pytest

from articles.domain.readership import Suspicion, Visit
from articles.views import readership
from tests.factories import browser_of, post_as
from tests.store_state import set_clock

DAY = 86400


@pytest.fixture
def clock(site_store):
    """Set the site's clock to noon (UTC) some days ago."""
    noon = site_store.store.now() // DAY * DAY + DAY / 2

    def ago(days):
        set_clock(site_store, noon - days * DAY)

    ago(0)
    return ago


def read(site_store, article, visitors=1, suspicion=None):
    for n in range(visitors):
        site_store.pageviews.record(article, Visit(f"{n:016x}", suspicion=suspicion))


def text_of(path, user):
    response = browser_of(user).get(path)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def table(text):
    """Return the rows of the chart's table, from the header to the totals."""
    found = re.search(r'<details class="as-table fold">.*?</details>', text)[0]
    cells = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in re.findall(r"<tr>.*?</tr>", found)]
    return cells[0], cells[1:-1], cells[-1]


def test_the_site_page_shows_14_days_of_counted_and_suspect_views(site_store, article, alice, carol, clock):
    other = post_as(site_store, alice, "Other", "https://e.org/other").id
    clock(2)
    read(site_store, article, 3)
    read(site_store, other, 2)
    read(site_store, other, 4, Suspicion.BOT)
    clock(0)
    read(site_store, article, 1)
    read(site_store, article, 2, Suspicion.PREFETCH)
    read(site_store, article, 1, Suspicion.BURST)

    head, days, sums = table(text_of("/moderation/views/", carol))

    assert head == ["Day", "Counted views", "Bots", "Prefetched", "Bursts", "Visitors"]
    assert len(days) == 14
    assert days[-3][1:] == ["5", "4", "0", "0", "3"]
    assert days[-2][1:] == ["0", "0", "0", "0", "0"]
    assert days[-1][1:] == ["1", "0", "2", "1", "1"]
    assert sums == ["Together", "6", "4", "2", "1", "–"]


def test_an_articles_page_shows_only_its_own_views(site_store, article, alice, carol, clock):
    other = post_as(site_store, alice, "Other", "https://e.org/other").id
    read(site_store, other, 9)
    clock(1)
    read(site_store, article, 3)
    clock(0)
    read(site_store, article, 4)

    head, days, sums = table(text_of(f"/articles/{article}/views/", carol))

    assert head[-1] == "New visitors"
    assert [days[-2][1], days[-2][-1]] == ["3", "3"]
    assert [days[-1][1], days[-1][-1]] == ["4", "1"]
    assert sums == ["Together", "7", "0", "0", "0", "4"]


def test_an_articles_page_includes_older_views(site_store, article, carol, clock):
    clock(40)
    read(site_store, article, 5)
    read(site_store, article, 2, Suspicion.BOT)
    clock(0)
    read(site_store, article, 1, Suspicion.BOT)

    text = text_of(f"/articles/{article}/views/", carol)

    assert "<dt>Views</dt><dd>5</dd>" in text
    assert "<dt>Visitors</dt><dd>5</dd>" in text
    assert "<dt>Suspect views</dt><dd>3</dd>" in text
    kinds = re.search(r'<table class="kinds">.*?</table>', text)[0]
    assert re.findall(r"<td>(\d+)</td>", kinds) == ["1", "3", "0", "0", "0", "0"]
    assert "A title" in text
    assert "within 10 minutes count once" in text


def test_every_reason_has_a_one_sentence_explanation(site_store, article, carol):
    text = text_of("/moderation/views/", carol)

    assert set(readership._REASONS) == set(Suspicion)
    meanings = re.findall(r'class="meaning">([^<]+)</span>', text)
    assert len(meanings) == len(Suspicion)
    assert all(meaning.endswith(".") for meaning in meanings)
