import pytest

from articles.domain import PLACEHOLDERS, Choice, ImportedArticle, Order
from articles.repository import ImportRunning
from tests.repository.conftest import ALICE, BOB, CAROL

OLD, RECENT = 1_600_000_000.5, 1_699_999_000.0


def row(link="https://example.org/a", at=OLD, votes=3, opposes=1, poster=ALICE, **more):
    return ImportedArticle("T", link, poster, "alice" if poster else "", at, votes, opposes, **more)


def test_time_votes_groups_and_poster_are_kept(repository):
    (number,) = repository.imports.add([row(groups=("python", "web"))])

    found = repository.articles.get(number)
    assert (found.posted_at, found.votes, found.opposes, found.poster) == (OLD, 3, 1, ALICE)
    assert found.groups == ("python", "web")
    assert found.score == OLD + 2 * 432
    assert [a.id for a in repository.listings.page(Order.SCORE, slug="web").articles] == [number]
    assert [a.id for a in repository.articles.posted_by(ALICE)[0]] == [number]


def test_importing_again_adds_nothing_but_another_time_is_another_article(repository):
    rows = [row(), row(at=OLD + 1), row(link="https://example.org/b")]
    first = repository.imports.add(rows)

    assert len(set(first)) == 3
    assert repository.imports.add(rows) == [None, None, None]
    assert repository.imports.add([row(), row(at=OLD + 2)])[0] is None
    assert repository.imports.count() == 4


def test_a_row_twice_in_one_batch_is_one_article(repository):
    assert repository.imports.add([row(), row()]) == [1, None]


def test_a_removed_article_is_not_imported_again(repository):
    (number,) = repository.imports.add([row()])
    repository.articles.remove(number, CAROL, "spam")

    assert repository.imports.add([row()]) == [None]


def test_removed_rows_stay_removed(repository):
    (number,) = repository.imports.add([row(removed="spam", groups=("python",))])

    assert repository.articles.get(number).removed == "spam"
    assert repository.listings.page(Order.TIME).total == 0
    assert list(repository.audit.findings()) == []


@pytest.mark.parametrize("poster", [ALICE, 0])
@pytest.mark.parametrize(("votes", "opposes"), [(5, 2), (1, 40), (0, 3), (1, 0)])
def test_open_articles_get_placeholder_voters(repository, poster, votes, opposes):
    (number,) = repository.imports.add([row(at=RECENT, votes=votes, opposes=opposes, poster=poster)])

    keys = repository.store.shards.of(number)
    voters = {int(user) for user in repository.store.client.smembers(keys.voted(number))}
    opposers = {int(user) for user in repository.store.client.smembers(keys.oppose(number))}
    assert (len(voters), len(opposers)) == (votes, opposes)
    assert (ALICE in voters) == (poster == ALICE and votes > 0)
    assert all(user in PLACEHOLDERS for user in (voters | opposers) - {ALICE})
    assert list(repository.audit.findings()) == []
    assert repository.votes.cast(number, BOB, Choice.VOTE).votes == votes + 1


def test_closed_articles_get_no_voter_sets(repository):
    repository.imports.add([row()])

    assert not [key for key in repository.store.client.keys() if "voted:" in key or "oppose:" in key]
    assert list(repository.audit.findings()) == []


def test_a_recent_links_article_is_found_when_it_is_posted_again(repository):
    (number, _) = repository.imports.add([row(at=RECENT), row(link="https://example.org/old")])

    assert repository.articles.post(BOB, "bob", "T", "https://example.org/a").id == number
    assert repository.articles.post(BOB, "bob", "T", "https://example.org/old").is_new


def test_a_second_import_is_kept_out_until_the_first_ends(repository):
    with repository.imports.alone(), pytest.raises(ImportRunning), repository.imports.alone():
        pass
    with repository.imports.alone():
        pass


def test_the_shift_of_a_file_is_remembered(repository):
    assert repository.imports.shift_of("digest", 12.5) == 12.5
    assert repository.imports.shift_of("digest", 99.0) == 12.5
    assert repository.imports.shift_of("other", 1.0) == 1.0


def test_all_come_out_again(repository):
    ids = repository.imports.add([row(), row(at=RECENT), row(at=OLD + 5, removed="x")])

    assert [article.id for article in repository.imports.all()] == ids
