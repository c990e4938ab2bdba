"""An undo removes what came, unless members or moderators have reacted to it; all else stays as it is."""

import time
from contextlib import suppress

import pytest
from django.core.management.base import CommandError

from accounts.models import Invitation, User
from articles.configuration import choices
from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import OPERATOR, Actor
from articles.models import ArchivedViews
from extras.moving_in import importing, store, undoing
from extras.moving_in.importing import Interrupted, MovingIn
from extras.moving_in.models import Arrival, Kind, MovedAccount, Source
from extras.moving_in.staging import staged
from extras.moving_in.store import Undoings
from extras.moving_in.tests.readme import follow
from extras.moving_in.tests.test_importing import OLD, arrived, enter, failing_at, look, stage
from extras.moving_in.undoing import Undoing
from tests.cast import MODERATOR
from tests.factories import comment_on, member, post_as, view
from tests.store_state import contents, kind_of, problems


def undo(repository, **more):
    """Undo the only import; return how many articles, accounts and groups went, and what stays."""
    one = Undoing(repository, Source.objects.get(name="old"), **more)
    one.run()
    return (*one.counts.values(), one.stays)


def kept(repository):
    """Return all that the store has, but the counters that never fall, and what its index has to read."""
    passing = {"article:", "accounts:", "log:", "ranking:", "seen:<id>:<visitor>", "days:", "hll:day:<day>"}
    found = contents(repository)
    return {key: value for key, value in found.items() if kind_of(key.rpartition("}:")[2]) not in passing}


def ids():
    return {old: int(new) for old, new in arrived(Kind.ARTICLE).items()}


@pytest.fixture
def before(site, tmp_path):
    """What a site with an article of its own has, before a source moved in."""
    bob = member("zoe")
    own = post_as(site, bob, "Own", "https://own.example/", ["cpp-own"])
    comment_on(site, own.id, "Mine", bob.pk)
    state = kept(site), [*User.objects.order_by("pk").values()]
    stage(tmp_path / "s", time.time())
    enter(site, tmp_path / "s")
    return state


def test_all_that_came_goes_and_all_else_stays(site, before, tmp_path):
    number = ids()["a"]
    view(site, number, 1, 2)
    ArchivedViews.objects.create(
        article_id=number, pv=1, uv=1, sketch=b"", viewed_at=1, archived_at="2026-01-01T00:00Z"
    )
    former = Source.objects.create(name="old/older", format="lobsters")
    Arrival.objects.create(source=former, kind=Kind.ARTICLE, old_id="7", new_id=number)
    choices.close_group("cpp", is_closed=True)
    whole, dry = look(site), undo(site, is_dry=True)
    assert look(site) == whole

    assert undo(site) == dry == (4, 5, 1, {})
    assert (kept(site), [*User.objects.filter(left_at=None).order_by("pk").values()]) == before
    models = Source, Arrival, MovedAccount, Invitation, ArchivedViews
    assert [model.objects.count() for model in models] == [0] * 5
    assert not choices.closed_groups()
    assert site.articles.post(1, "ann", "Again", "https://example.org/b").is_new
    assert problems(site) == []


def without_ids(members):
    """Return these rows of `look` without hidden articles, and without the account that keeps the last id."""
    return [(*row[:3], *row[4:]) for row in members if not row[0].startswith("~")]


def test_what_was_taken_out_comes_again_under_other_ids(site, before, tmp_path):
    numbers, members, whole = ids(), {*User.objects.values_list("pk", flat=True)}, look(site)
    undo(site)
    enter(site, tmp_path / "s")

    again = look(site)
    assert [one[1:] for one in again[0]] == [one[1:] for one in whole[0]]
    assert (again[1], again[4]) == (whole[1], whole[4])
    assert without_ids(again[2]) == without_ids(whole[2])
    assert not {*numbers.values()} & {*ids().values()}
    assert not {*MovedAccount.objects.values_list("pk", flat=True)} & members
    assert problems(site) == []


def vote(site, number):
    site.votes.cast(number, member("mia").pk, Choice.VOTE)


def vote_on_comment(site, number):
    site.comments.cast(root_of(number) + 1, member("mia").pk, Choice.VOTE)


def comment(site, number):
    comment_on(site, number, "An answer", member("mia").pk)


def save(site, number):
    site.members.save(member("mia").pk, number, wanted=True)


def flag(site, number):
    site.flags.set(root_of(number) + 1, member("mia").pk, FlagReason.SPAM, 1.0)


def remove(site, number):
    site.articles.remove(number, MODERATOR, "Spam")


def withdraw(site, number):
    bob = User.objects.get(username="bob")
    site.articles.withdraw(number, Actor(bob.pk, "bob"))


def redact(site, number):
    remove(site, number)
    assert site.redactions.redact_article(number, ["Text"], MODERATOR, "Private")


def remove_comment(site, number):
    site.comments.remove(root_of(number) + 1, MODERATOR, "Spam")


def merge(site, number):
    other = post_as(site, member("mia"), "Other", "https://other.example/")
    assert sum(site.merges.merge(number, other.id, MODERATOR, "The same"))


@pytest.mark.parametrize(
    "act", [vote, vote_on_comment, comment, save, flag, remove, withdraw, redact, remove_comment, merge]
)
def test_what_someone_answered_stays_with_its_discussion(site, before, act):
    number = ids()["b"]
    act(site, number)

    articles, _, groups, stays = undo(site)
    assert (articles, groups, [*stays]) == (3, 0, [number])
    assert ids() == {"b": number}
    assert len(site.imports.get_comment_numbers([number])) == 1
    assert [*site.imports.iterate_comments(number)][:1] != []
    assert {"ann", "bob", "cid"} <= {*User.objects.filter(left_at=None).values_list("username", flat=True)}
    assert Source.objects.get().undo_begun_at is None
    assert problems(site) == []


def test_a_claimed_account_stays_with_what_it_wrote_since(site, before):
    ann = User.objects.get(username="ann")
    MovedAccount.objects.filter(user=ann).update(claimed_at=ann.date_joined)
    own = post_as(site, ann, "Mine", "https://ann.example/")

    assert undo(site)[3] == {}
    assert [*MovedAccount.objects.values_list("user__username", flat=True)] == ["ann"]
    assert arrived(Kind.MEMBER) == {"1": str(ann.pk), "ann-former": str(ann.pk)}
    assert [one for one, _ in site.members.iterate_posted(ann.pk)] == [own.id]
    assert [*site.members.iterate_saved(ann.pk)] == []
    assert problems(site) == []


def test_an_account_that_is_also_of_another_source_stays(site, before):
    other = Source.objects.create(name="other", format="lines")
    Arrival.objects.create(source=other, kind=Kind.MEMBER, old_id="9", new_id=arrived(Kind.MEMBER)["1"])
    undo(site)
    assert [*MovedAccount.objects.values_list("user__username", flat=True)] == ["ann"]
    assert problems(site) == []


def test_what_was_here_before_stays(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    enter(site, tmp_path / "s")
    first = Source.objects.get()
    Source.objects.filter(pk=first.pk).update(name="first")
    state = contents(site).keys()
    enter(site, tmp_path / "s")  # as another source with the same articles

    second = Undoing(site, Source.objects.get(name="old"))
    second.run()
    assert second.counts == {"articles": 0, "accounts": 0, "groups": 0}
    assert contents(site).keys() == state
    assert problems(site) == []


@pytest.mark.parametrize("times", range(4))
def test_an_undo_that_ends_after_any_step_is_completed_by_another(site, before, monkeypatch, times):
    monkeypatch.setattr(undoing, "_ARTICLES", 2)
    monkeypatch.setattr(undoing, "_MEMBERS", 3)
    monkeypatch.setattr(store, "_AT_ONCE", 3)
    steps = iter(range(100))
    with suppress(Interrupted):
        undo(site, is_stopped=lambda: next(steps) == times)
    undo(site)
    assert (kept(site), [*User.objects.filter(left_at=None).order_by("pk").values()]) == before
    assert not Source.objects.exists()
    assert problems(site) == []


@pytest.mark.parametrize("is_completed", [False, True])
@pytest.mark.parametrize("times", range(1, 6))
def test_an_import_that_died_is_undone_with_all_it_brought(site, tmp_path, monkeypatch, times, is_completed):
    monkeypatch.setattr(importing, "BATCH", 8)
    before = kept(site)
    stage(tmp_path / "s", time.time())
    with monkeypatch.context() as patch:
        patch.setattr(MovingIn, "_note_arrivals", failing_at(times, MovingIn._note_arrivals))
        with pytest.raises(RuntimeError):
            enter(site, tmp_path / "s")
    if is_completed:
        enter(site, tmp_path / "s")
    undo(site)
    assert kept(site) == before
    assert not User.objects.filter(left_at=None)
    assert problems(site) == []


def test_an_answer_between_look_and_step_keeps_the_article(site, before, monkeypatch):
    number, mia, real = ids()["b"], member("mia"), Undoings.take_out

    def late(*given):
        if not mia.followed_groups:
            mia.followed_groups = "answered"
            comment_on(site, number, "Late", mia.pk)
        return real(*given)

    monkeypatch.setattr(Undoings, "take_out", late)
    assert [*undo(site)[3]] == [number]
    assert problems(site) == []


def test_an_interrupted_undo_is_finished_before_anything_comes(run, site_store, tmp_path):
    Source.objects.create(name="old", format="lobsters", undo_begun_at="2026-01-01T00:00Z")
    with pytest.raises(CommandError, match="Finish it first"):
        run("import_site", "lobsters", "nowhere", name="old")
    would, done = follow("Taking it back", run)
    assert would.replace("would go", "went") == done
    assert "0  articles" in done
    with pytest.raises(CommandError, match="There is no source old"):
        run("import_site", "lobsters", "--undo", name="old")


def test_the_command_says_what_stays_and_where(run, site_store, tmp_path):
    stage(tmp_path / "s", time.time())
    enter(site_store, tmp_path / "s")
    vote(site_store, number := ids()["b"])
    out = run("import_site", "lines", "--undo", name="old")
    assert "3  articles" in out
    assert f"/articles/{number}/  members voted here" in out


def test_a_log_and_former_sites_that_came_keep_nothing_here(site, tmp_path):
    stage(tmp_path / "s", time.time())
    with staged(tmp_path / "s") as staging:
        staging.fill("log", ["time", "action", "article", "reason"], [(OLD + 9, "remove", "c", "Spam")])
        rows = [("older", "lobsters", "old.example", "article", "x", "a")]
        staging.fill("former", ["source", "format", "host", "kind", "old_id", "id"], rows)
    enter(site, tmp_path / "s")
    assert {*Source.objects.values_list("name", flat=True)} == {"old", "old/older"}
    one = Undoing(site, Source.objects.get(name="old"))
    one.run()
    assert one.stays == {}
    assert not Source.objects.exists()
    assert [*site.moderation_log.iterate()] == []
    assert enter(site, tmp_path / "s").come["log entries"] == 1
    site.groups.rename("cpp", "Here", OPERATOR)
    Undoing(site, Source.objects.get(name="old")).run()
    assert [one.action for one in site.moderation_log.iterate()] == ["rename-group"]
    assert problems(site) == []
