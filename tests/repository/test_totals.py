"""The total of a list is the number of articles on its pages, for every list and every reader."""

import random
from itertools import combinations, count

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import PageNotFound
from articles.domain.lists import HOT_PERIODS, Order, Period, without_groups
from articles.text.searching import NOTHING, Hiding
from tests.cast import ALICE, BOB, CAROL, MODERATOR, name_of
from tests.clock import DAY
from tests.factories import comment_on, view

pytestmark = pytest.mark.deep

SLUGS = ("a", "b", "c", "d")


def lists(now):
    """Yield the arguments of every list."""
    for order in Order:
        yield {"order": order}
        for size in (1, 2):
            yield from ({"order": order, "slugs": slugs} for slugs in combinations(SLUGS, size))
    yield from ({"order": Order.POINTS, "period": period} for period in Period)
    yield from ({"order": Order.HOT, "since": period.since(now)} for period in HOT_PERIODS.values())


def fill(repository, clock, draw):
    """Post articles over 40 days, with votes, comments and views; remove and merge some."""
    for slug in SLUGS:
        repository.groups.create(slug, slug.upper(), MODERATOR)
    ids = []
    for number in range(45):
        clock.advance(draw.choice([3600, 4 * 3600, DAY]))
        poster, slugs = draw.choice([ALICE, BOB, CAROL]), draw.sample(SLUGS, draw.choice([0, 1, 1, 2, 3]))
        link = f"https://{draw.choice('xy')}.example/{number}"
        posted = repository.articles.post(
            poster, name_of(poster), f"Words {draw.choice('pq')}{number}", link, slugs
        )
        ids.append(posted.id)
        for one in draw.sample(ids[-4:], min(3, len(ids[-4:]))):
            voter = 900 + draw.randrange(9)
            repository.votes.cast(one, voter, draw.choice([Choice.VOTE, Choice.OPPOSE]))
            comment_on(repository, one, "A comment")
            view(repository, one, number)
    gone = draw.sample(ids[:-1], 12)
    for one in gone[:8]:
        repository.articles.remove(one, MODERATOR, "Spam")
    for one in gone[8:]:
        sum(repository.merges.merge(one, ids[-1], MODERATOR, "The same"))
    return ids


@pytest.mark.one_shard
@pytest.mark.parametrize("seed", range(2))
def test_a_total_is_what_the_pages_list(repository, clock, seed):
    draw = random.Random(seed)
    object.__setattr__(repository.rules, "per_page", 6)
    ids = fill(repository, clock, draw)
    readers = [
        ((), NOTHING),
        (tuple(draw.sample(SLUGS, 1)), NOTHING),
        (tuple(draw.sample(SLUGS, 2)), NOTHING),
        ((), Hiding(groups=(draw.choice(SLUGS),))),
        (tuple(draw.sample(SLUGS, 1)), Hiding(groups=SLUGS[:1], members=(BOB,), articles=tuple(ids[-9:]))),
    ]

    for closed, hidden in readers:
        for asked in lists(repository.store.now()):
            if not set(closed).isdisjoint(asked.get("slugs", ())):
                continue
            with without_groups(closed):
                pages = walk(repository, hidden=hidden, **asked)
            listed = [article.id for page in pages for article in page.articles]
            assert len(listed) == len(set(listed))
            for page in pages:
                assert (page.total, page.pages) == (len(listed), len(pages)), (closed, hidden, asked)


def walk(repository, **asked):
    """Return all pages of a list."""
    pages = []
    for number in count(1):
        pages.append(repository.lists.get_page(number=number, **asked))
        if not pages[-1].has_next:
            break
    with pytest.raises(PageNotFound):
        repository.lists.get_page(number=len(pages) + 1, **asked)
    return pages
