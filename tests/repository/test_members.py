"""What a member chose and saved: listed in the same step as the vote, and visible to that member alone."""

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleNotFound, ArticleRemoved, PageNotFound, SavedFull
from articles.domain.lists import MemberPage
from articles.domain.members import PLACEHOLDERS
from articles.repository import Repository, members
from articles.repository.store import scripts
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import DAY
from tests.every_server import delete
from tests.factories import imported, post, vote
from tests.repository.usage import let_pass, use
from tests.rules import connect, default_rules
from tests.store_state import contents, problems


def ids(page: MemberPage) -> list[int]:
    return [article.id for article in page.articles]


def lists(repository: Repository, user: int) -> tuple[list[int], list[int]]:
    """Return the ids that the member voted for, and those that the member opposed."""
    return ids(repository.members.get_voted(user)), ids(repository.members.get_opposed(user))


def test_a_members_points_come_from_others_and_from_the_newest_listed_articles(repository, clock, monkeypatch):
    monkeypatch.setattr(members, "ARTICLES_RATED", 6)
    for number, points in enumerate((50, 1, -1, 0, 2, 40, 3)):
        clock.advance(1)
        article = post(repository, number)
        vote(repository, article, abs(points), Choice.VOTE if points > 0 else Choice.OPPOSE)
        if points == 40:
            repository.articles.remove(article, MODERATOR, "Spam")

    assert repository.members.get_points(ALICE) == 1 - 1 + 2 + 3
    assert repository.members.get_points(BOB) == 0


def test_lists_show_the_newest_choice_first_across_shards_and_pages(repository, clock):
    articles = [post(repository, number) for number in range(60)]
    for article in reversed(articles):
        clock.advance(1)
        repository.votes.cast(article, BOB, Choice.VOTE)

    pages = [repository.members.get_voted(BOB, page) for page in (1, 2, 3)]

    assert [article for page in pages for article in ids(page)] == articles
    assert [(page.number, page.has_next) for page in pages] == [(1, True), (2, True), (3, False)]
    for number in (0, 4):
        with pytest.raises(PageNotFound):
            repository.members.get_voted(BOB, number)


def test_a_position_continues_lists_of_entries_with_the_same_time(repository):
    object.__setattr__(repository.rules, "per_page", 4)
    ids = [post(repository, number) for number in range(30)]
    for number in ids:
        repository.members.save(ALICE, number, wanted=True)
        repository.articles.remove(number, MODERATOR, "Spam")
        repository.articles.restore(number, MODERATOR, "It was not")
    lists = (repository.members.get_posted, repository.members.get_voted, repository.members.get_saved)

    for read in lists:
        page = read(ALICE)
        found = [article.id for article in page.articles]
        while page.has_next:
            page = read(ALICE, after=page.last)
            found += [article.id for article in page.articles]
        assert sorted(found) == ids


def test_a_listed_choice_is_still_known_after_its_voter_set_expires(repository, clock):
    article = post(repository, 1)
    repository.votes.cast(article, BOB, Choice.OPPOSE)
    clock.advance(30 * DAY)
    names = repository.store.shards.of(article)
    repository.store.client.delete(names.voted(article), names.oppose(article))

    (found,) = repository.members.get_opposed(BOB).articles

    assert (found.id, found.choice) == (article, Choice.OPPOSE)
    assert repository.articles.get(article, BOB).choice is Choice.OPPOSE
    assert problems(repository) == []


def test_removed_articles_leave_the_lists_and_restored_ones_return(repository):
    article, other = post(repository, 1), post(repository, 2)
    for one in (article, other):
        repository.votes.cast(one, BOB, Choice.VOTE)
        repository.members.save(BOB, one, wanted=True)
    repository.articles.remove(article, MODERATOR, "Spam")

    assert (lists(repository, BOB), ids(repository.members.get_saved(BOB))) == (([other], []), [other])
    repository.articles.restore(article, MODERATOR, "Not spam")
    assert sorted(lists(repository, BOB)[0]) == [article, other]
    assert problems(repository) == []


@pytest.mark.parametrize("poster", [ALICE, BOB], ids=["voted for", "posted"])
def test_all_choices_of_nine_days_and_the_newest_older_ones_are_kept(repository, clock, monkeypatch, poster):
    shared = scripts.source
    monkeypatch.setattr(
        scripts, "source", lambda name: shared(name).replace("CHOICES_KEPT = 1000", "CHOICES_KEPT = 3")
    )
    monkeypatch.setattr(scripts, "digest", lambda _name: "0" * 40)
    shards, chosen = repository.store.shards.count, list[int]()

    def choose(numbers: range) -> set[int]:
        """Choose one more article for each number; return all known choices."""
        for number in numbers:
            article = post(repository, number, poster=poster)
            repository.votes.cast(article, BOB, Choice.VOTE)
            chosen.append(article)
            clock.advance(1)
        return {article for article, _ in repository.members.iterate_choices(BOB, Choice.VOTE)}

    choose(range(6 * shards))
    let_pass(repository, clock, 8.9 * DAY)
    assert choose(range(100, 100 + shards)) == set(chosen)
    let_pass(repository, clock, DAY)
    assert choose(range(200, 200 + shards)) == set(chosen[-3 * shards :])


def test_a_choice_keeps_its_moment_when_it_is_repeated(repository, clock):
    first, second = post(repository, 1), post(repository, 2)
    for article in (first, second, first):
        clock.advance(1)
        repository.votes.cast(article, BOB, Choice.VOTE)

    assert lists(repository, BOB) == ([second, first], [])


def test_no_choice_is_older_than_its_article(repository, clock):
    article = post(repository, 1)
    posted_at = clock()
    clock.advance(-5)

    repository.votes.cast(article, BOB, Choice.VOTE)

    assert list(repository.members.iterate_choices(BOB, Choice.VOTE)) == [(article, posted_at)]
    assert problems(repository) == []


def test_the_named_poster_of_an_open_import_is_listed_and_placeholders_are_not(repository, clock):
    (article,) = repository.imports.add([imported(1, clock() - 60, poster=BOB, votes=4, opposes=2)])

    assert lists(repository, BOB) == ([article], [])
    assert not any(str(PLACEHOLDERS.start + n) in name for name in contents(repository) for n in range(9))
    assert problems(repository) == []


# Saved articles


def test_an_article_can_be_saved_and_unsaved_repeatedly(repository, clock):
    first, second = post(repository, 1), post(repository, 2)
    for article in (first, second, first):
        clock.advance(1)
        repository.members.save(BOB, article, wanted=True)

    assert ids(repository.members.get_saved(BOB)) == [second, first]
    assert ids(repository.members.get_saved(ALICE)) == []
    assert [a.saved for a in repository.articles.get_many([first, second], BOB)] == [True, True]
    assert not repository.articles.get(first, ALICE).saved
    assert not repository.articles.get(first).saved
    for _ in range(2):
        repository.members.save(BOB, second, wanted=False)
    assert ids(repository.members.get_saved(BOB)) == [first]
    assert problems(repository) == []


def test_a_missing_article_can_be_unsaved_but_not_saved(repository):
    article = post(repository, 1)
    repository.members.save(BOB, article, wanted=True)
    repository.articles.remove(article, MODERATOR, "Spam")

    with pytest.raises(ArticleNotFound):
        repository.members.save(BOB, 99, wanted=True)
    with pytest.raises(ArticleRemoved):
        repository.members.save(ALICE, article, wanted=True)
    repository.members.save(BOB, article, wanted=False)
    repository.members.save(BOB, 99, wanted=False)
    assert list(repository.members.iterate_saved(BOB)) == []


def test_a_member_can_save_articles_up_to_a_limit(repository):
    few = connect(repository.store.client, shards=repository.store.shards.count, rules=default_rules(max_saved=2))
    articles = [post(repository, number) for number in range(3)]
    for article in (*articles[:2], articles[0]):
        few.members.save(BOB, article, wanted=True)

    with pytest.raises(SavedFull):
        few.members.save(BOB, articles[2], wanted=True)
    assert len(list(few.members.iterate_saved(BOB))) == 2


# Audit and repair


def listed_without_voting(repository: Repository) -> str:
    names = repository.store.shards.of(7)
    repository.store.client.zadd(names.votes_of(77), {"7": 1.0})
    return f"{names.votes_of(77)}: holds 7, but the member is not in voted:7"


def voting_without_list(repository: Repository) -> str:
    names = repository.store.shards.of(7)
    repository.store.client.zrem(names.votes_of(ALICE), "7")
    return f"{names.article(7)}: not in votes:{ALICE}, which is in voted:"


def listed_without_article(repository: Repository) -> str:
    names = repository.store.shards.of(8000)
    repository.store.client.zadd(names.opposes_of(BOB), {"8000": 1.0})
    return f"{names.opposes_of(BOB)}: holds 8000, but there is no such article"


def listed_twice(repository: Repository) -> str:
    names = repository.store.shards.of(1)
    repository.store.client.zadd(names.opposes_of(ALICE), {"1": 1.0})
    return f"{names.votes_of(ALICE)}: holds 1, which the member also opposed"


def listed_twice_while_open(repository: Repository) -> str:
    names = repository.store.shards.of(7)
    repository.store.client.zadd(names.opposes_of(ALICE), {"7": 9e9})
    return f"{names.opposes_of(ALICE)}: holds 7, but the member is not in oppose:7"


def listed_although_gone(repository: Repository) -> str:
    names = repository.store.shards.of(1)
    repository.account_deletion.advance(77, "user77", "", lambda: True)
    repository.store.client.zadd(names.votes_of(77), {"1": 1.0})
    return f"{names.votes_of(77)}: of a member who is gone"


@pytest.mark.deep
@pytest.mark.parametrize(
    "damage",
    [
        listed_without_voting, voting_without_list, listed_without_article,
        listed_twice, listed_twice_while_open, listed_although_gone,
    ],
)  # fmt: skip
def test_differences_between_lists_and_voter_sets_are_found_and_repaired(repository, clock, damage):
    use(repository, clock)
    before = lists(repository, ALICE), lists(repository, BOB)

    told = damage(repository)

    assert problems(repository) == [told]

    repository.repair.run()
    assert problems(repository) == []
    assert (lists(repository, ALICE), lists(repository, BOB)) == before


def test_the_later_choice_of_a_closed_vote_listed_twice_is_kept(repository, clock):
    use(repository, clock)
    names = repository.store.shards.of(1)
    repository.store.client.zadd(names.opposes_of(ALICE), {"1": 9e9})

    repository.repair.run()

    voted, opposed = lists(repository, ALICE)
    assert 1 not in voted
    assert opposed == [1]
    assert problems(repository) == []


def test_lost_lists_are_rebuilt_for_articles_open_to_votes(repository, clock):
    use(repository, clock)
    before = {user: set(lists(repository, user)[0]) for user in (ALICE, 11, 13)}
    client = repository.store.client
    delete(client, *(n for n in contents(repository) if n.rpartition("}:")[2].startswith(("votes:", "opposes:"))))

    repository.repair.run()

    assert problems(repository) == []
    assert {user: set(lists(repository, user)[0]) for user in before} == {
        user: articles - {1, 2} for user, articles in before.items()
    }
