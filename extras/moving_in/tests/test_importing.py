"""What is staged enters the site, and plain reads of the store and the database find it there, once."""

import time
from datetime import UTC, datetime

import pytest

from accounts.models import Ban, Invitation, User
from articles.configuration import choices
from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.moderation_log import OPERATOR, Action
from extras.moving_in import importing
from extras.moving_in.importing import Interrupted, MovingIn, Report
from extras.moving_in.models import Arrival, Kind, MovedAccount, Source
from extras.moving_in.staging import staged
from extras.moving_in.tests.lobsters_rows import HASH
from tests.factories import comment_on
from tests.store_state import problems

OLD, DAY = 1_600_000_000, 86_400
NAMES = ("ann", "bob", "cid", "dee", "admin")
PASSWORDS = {"cid": f"bcrypt${HASH}", "bob": f"bcrypt${HASH}".replace("$10$", "$15$")}
TREE = {"2": "1", "3": "2", "4": "9"}  # inviters; one is not there


def stage(path, now, comments=12):
    """Stage members, a closed, an open, a removed and an empty article, and discussions."""
    with staged(path) as staging:
        staging.fill(
            "tag", ["id", "title", "description"], [("C++", "Systems", "About *C++*"), ("x y!", "?!", None)]
        )
        staging.fill(
            "member",
            ["id", "name", "joined", "about", "inviter", "address", "banned_at", "ban_reason", "ban_ends",
             "password"],
            [
                (str(n), name, OLD + n, f"I am {name}", TREE.get(str(n)), f"{name}@old.example",
                 OLD if name == "cid" else None, "Spam", now + DAY if name == "cid" else None, PASSWORDS.get(name))
                for n, name in enumerate(NAMES, 1)
            ],
        )  # fmt: skip
        staging.fill("member", ["id", "name", "is_deleted"], [("6", "gone", 1)])
        staging.fill(
            "article",
            ["id", "title", "link", "text", "author", "time", "votes", "opposes", "edited", "removed", "path"],
            [
                ("a", "Closed", "https://example.org/a", None, "1", OLD, 40, 3, OLD + 60, None, "/old/a?x=1"),
                ("b", "Open", "https://example.org/b", "Text", "2", now - 100, 3, 1, None, None, None),
                ("c", "Removed", None, None, "6", OLD + 5, 1, None, None, "Spam", None),
                ("d", "Empty", None, None, "1", OLD + 6, 1, None, None, None, None),
                ("e", "Twin", "https://example.org/b", None, None, now - 100, -4, None, None, None, None),
            ],
        )
        staging.fill("article_tag", ["article", "tag"], [("a", "C++"), ("b", "C++"), ("b", "x y!")])
        fields = ["id", "article", "parent", "author", "time", "text", "votes", "removed", "is_deleted"]
        rows = [("k0", "b", None, "1", now - 90, "First", 2, None, None)]
        rows += [
            ("k1", "b", "k0", None, now - 80, None, 0, None, 1),
            ("k2", "b", "k1", "3", now - 70, "Below", 0, None, None),
        ]
        rows += [
            ("k3", "b", "k2", "2", now - 60, "x" * 20_001, 0, None, None),
            ("k4", "b", "k3", "1", now - 50, "Rises", 0, None, None),
        ]
        rows += [("k5", "b", None, "4", now - 40, "Bad", -2, "Spam", None)]
        rows += [(f"a{n}", "a", None, str(n % 4 + 1), OLD + n, f"No. {n}", 1, None, None) for n in range(comments)]
        staging.fill("comment", fields, rows)
        staging.fill(
            "vote", ["member", "article", "comment", "value", "time"],
            [("2", "b", None, 1, now - 99), ("1", "b", None, -1, now - 50), ("4", "b", None, 1, now - 49),
             ("6", "b", None, 1, now - 48), ("4", "a", None, 1, OLD), ("2", None, "k0", 1, now - 9),
             ("1", None, "k0", 1, now - 9)],
        )  # fmt: skip
        staging.fill("saved", ["member", "article", "time"], [("1", "a", OLD + 9), ("1", "d", OLD + 9)])
        staging.fill("hidden", ["member", "article"], [("4", "a")])
        staging.fill("follow", ["member", "tag", "is_hidden"], [("1", "C++", 0), ("4", "C++", 1)])
        staging.fill("alias", ["kind", "old_id", "id"], [("member", "ann-former", "1"), ("article", "a2", "a")])
        staging.finish()


def enter(repository, path, **more):
    source, _ = Source.objects.get_or_create(name="old", format="lines", host="old.example")
    report = Report()
    with staged(path) as staging:
        MovingIn(repository, source, staging, report, **more).run()
    return report


def arrived(kind):
    return {one.old_id: one.new_id for one in Arrival.objects.filter(kind=kind)}


def thread(repository, number):
    found = repository.comments.get_thread(number, CommentOrder.OLDEST).comments
    return [(one.id - root_of(number), one.depth, one.text, one.author_name) for one in found]


def look(repository):
    """Return all that came, as readers see it, and where old ids lead."""
    articles = [*repository.imports.iterate(with_texts=True)]
    return (
        [
            (one.id, one.title, one.votes, one.opposes, one.poster_name, one.comments, one.edited_at)
            for one in articles
        ],
        [thread(repository, one.id) for one in articles if one.removed is None],
        sorted(
            User.objects.values_list(
                "username", "about", "banned_from", "hidden", "followed_groups", "hidden_groups"
            )
        ),
        {kind: arrived(kind) for kind in Kind},
        sorted(Invitation.objects.values_list("inviter__username", "invited__username")),
    )


def test_a_source_is_here_as_it_was(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    report = enter(site, tmp_path / "s")

    ids = {old: int(new) for old, new in arrived(Kind.ARTICLE).items()}
    assert [*ids] == ["a", "c", "b", "e", "a2"]
    closed, opened, removed, twin = (site.articles.get(ids[old], with_html=True) for old in "abce")
    assert (closed.title, closed.posted_at, closed.votes, closed.opposes, closed.edited_at) == (
        "Closed",
        OLD,
        40,
        3,
        OLD + 60,
    )
    assert (closed.groups, closed.poster_name, closed.comments) == (("cpp",), "ann", 12)
    assert (removed.removed, removed.by_deleted_member, removed.poster_name) == ("Spam", True, "")
    assert (twin.votes, twin.opposes, twin.link, opened.link) == (
        1,
        5,
        "https://example.org/b",
        "https://example.org/b",
    )
    assert arrived(Kind.PATH) == {"/old/a?x=1": f"article {closed.id}"}
    assert arrived(Kind.GROUP) == {"C++": "cpp", "c++": "cpp"}
    assert site.groups.get("cpp").title == "Systems"
    assert site.groups.get_descriptions(["cpp"]) == {"cpp": "About *C++*"}
    assert thread(site, opened.id) == [
        (1, 0, "First", "ann"), (2, 1, "", ""), (3, 2, "Below", "cid"), (4, 3, "Rises", "ann"),
        (5, 0, "Bad", "dee"),
    ]  # fmt: skip
    assert arrived(Kind.COMMENT)["k4"] == str(root_of(opened.id) + 4)
    left_out = {noun: old_ids for (noun, why), old_ids in report.examples.items() if "password" not in why}
    assert left_out.pop("name")
    assert left_out == {"group": ["x y!"], "member": ["6"], "article": ["d"], "comment": ["k3"]}
    assert report.come["articles"] == 4
    assert problems(site) == []


def test_members_come_with_what_they_were(site, tmp_path, settings):
    settings.MOVING_IN_ADDRESSES = True
    now = time.time()
    User.objects.create_user("dee", password="correct horse battery staple")
    stage(tmp_path / "s", now)
    report = enter(site, tmp_path / "s")

    ann, cid = User.objects.get(username="ann"), User.objects.get(username="cid")
    assert (ann.about, ann.date_joined, ann.imported) == ("I am ann", datetime.fromtimestamp(OLD + 1, UTC), True)
    assert not ann.has_usable_password()
    assert cid.password == PASSWORDS["cid"]
    assert not User.objects.get(username="bob").has_usable_password()
    costly = ("member", "the old password is of an unknown kind, or too costly")
    assert report.examples[costly] == ["2"]
    assert cid.is_banned_from("voting")
    assert Ban.objects.get(member=cid).reason == "Spam"
    assert {*MovedAccount.objects.values_list("user__username", "address")} > {("ann", "ann@old.example")}
    assert User.objects.get(username="dee").about == ""
    assert not MovedAccount.objects.filter(user__username="dee")
    assert {*Invitation.objects.values_list("inviter__username", "invited__username")} == {
        ("ann", "bob"),
        ("bob", "cid"),
    }
    assert arrived(Kind.MEMBER)["ann-former"] == str(ann.pk)
    (changed,) = report.examples["name", "it changes"]
    assert changed.startswith("admin → admin-")
    assert ann.followed_groups == "cpp"
    ids = arrived(Kind.ARTICLE)
    assert [*site.members.iterate_saved(ann.pk)] == [(int(ids["a"]), OLD + 9)]


def test_members_are_voters_while_voting_is_open(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    enter(site, tmp_path / "s")

    number, ann = int(arrived(Kind.ARTICLE)["b"]), User.objects.get(username="ann").pk
    client, keys = site.store.client, site.store.shards.of(number)
    named = {User.objects.get(username=name).pk for name in ("bob", "dee")}
    assert {int(one) for one in client.smembers(keys.voted(number))} > named
    assert client.smembers(keys.oppose(number)) == {str(ann)}
    assert site.votes.cast(number, ann, Choice.NONE).opposes == 0
    assert str(User.objects.get(username="bob").pk) in client.smembers(keys.comment_voted(root_of(number) + 1))
    assert str(ann) not in client.smembers(keys.comment_voted(root_of(number) + 1))
    assert problems(site) == []


@pytest.mark.parametrize("times", [1, 2, 3, 5, 8])
def test_an_import_that_ends_after_any_step_is_completed_by_another(site, tmp_path, monkeypatch, times):
    monkeypatch.setattr(importing, "BATCH", 4)
    now, steps = time.time(), iter(range(100))
    stage(tmp_path / "s", now)
    with pytest.raises(Interrupted):
        enter(site, tmp_path / "s", is_stopped=lambda: next(steps) == times)
    enter(site, tmp_path / "s")
    whole = look(site)
    assert problems(site) == []
    enter(site, tmp_path / "s")
    assert look(site) == whole
    assert [len(one) for one in whole[1]] == [12, 5, 0]


def test_rows_that_were_written_before_a_crash_are_not_written_again(site, tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 4)
    now = time.time()
    stage(tmp_path / "s", now)
    with monkeypatch.context() as patch:
        patch.setattr(MovingIn, "_note_arrivals", failing_at(5, MovingIn._note_arrivals))
        with pytest.raises(RuntimeError):
            enter(site, tmp_path / "s")
    enter(site, tmp_path / "s")
    assert [len(one) for one in look(site)[1]] == [12, 5, 0]
    assert problems(site) == []


def failing_at(times, function):
    left = iter(range(100))

    def fail(*given, **more):
        if next(left) == times:
            raise RuntimeError
        return function(*given, **more)

    return fail


def test_what_is_new_at_the_source_comes_later(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    enter(site, tmp_path / "s")
    number = int(arrived(Kind.ARTICLE)["b"])
    comment_on(site, number, "Here")
    with staged(tmp_path / "s") as staging:
        staging.fill(
            "comment",
            ["id", "article", "parent", "author", "time", "text", "votes"],
            [("k9", "b", "k2", "1", now - 5, "Later", 0)],
        )
    report = enter(site, tmp_path / "s")

    assert (report.come["comments"], report.come["articles"]) == (1, 0)
    assert (8, 3, "Later", "ann") in thread(site, number)
    assert problems(site) == []


def test_a_dry_run_says_what_would_come_and_changes_nothing(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    report, source = Report(), Source(name="dry", format="lines")
    with staged(tmp_path / "s") as staging:
        MovingIn(site, source, staging, report, is_dry=True).run()

    assert [model.objects.count() for model in (User, Source, Arrival)] == [0, 0, 0]
    assert (site.imports.count(), site.groups.list_all()) == (0, [])
    come = enter(site, tmp_path / "s").come
    assert {noun: report.come[noun] for noun in ("articles", "comments", "members", "groups")} == {
        noun: come[noun] for noun in ("articles", "comments", "members", "groups")
    }


@pytest.mark.parametrize("is_here", [False, True])
def test_what_only_members_saw_is_not_shown_to_everyone(site, tmp_path, is_here):
    if is_here:
        site.groups.create("inner", "Inner")
    with staged(tmp_path / "s") as staging:
        staging.fill("tag", ["id", "title", "is_closed"], [("inner", "Inner", 1)])
        staging.fill("article", ["id", "title", "text", "time"], [("a", "Secret", "Text", OLD)])
        staging.fill("article_tag", ["article", "tag"], [("a", "inner")])
        staging.finish()
    report = enter(site, tmp_path / "s")
    choices.forget()

    assert (report.come["articles"], choices.closed_groups()) == ((0, set()) if is_here else (1, {"inner"}))
    assert [one.title for one in site.imports.iterate()] == ([] if is_here else ["Secret"])


def test_a_log_comes_once_and_only_into_one_without_other_entries(site, tmp_path):
    now = time.time()
    stage(tmp_path / "s", now)
    rows = [
        (OLD + 9, "bob", "remove", "c", None, None, "Spam"), (OLD + 8, "1", "ban", None, None, "3", "Rude"),
        (OLD + 7, "*", "remove-comment", None, "k5", None, "Bad"), (OLD + 6, "1", "No word", "c", None, None, ""),
        (OLD + 5, "1", "lock", "nowhere", None, None, ""),
    ]  # fmt: skip
    fields = ["time", "actor", "action", "article", "comment", "member", "reason"]
    with staged(tmp_path / "s") as staging:
        staging.fill("log", fields, rows[1:])
    site.moderation_log.note(Action.CHANGE_SETTING, OPERATOR, "SITE_NAME", "")
    enter(site, tmp_path / "s")
    site.moderation_log.note(Action.CHANGE_SETTING, OPERATOR, "SITE_NAME", "Again")
    with staged(tmp_path / "s") as staging:
        staging.fill("log", fields, rows[:1])
    report = enter(site, tmp_path / "s")

    ids = arrived(Kind.ARTICLE)
    assert (report.come["log entries"], report.present["log entries"]) == (1, 2)
    own, entries = site.moderation_log.get_page().entries[:2], [*site.moderation_log.iterate()]
    assert [one.reason for one in own] == ["Again", ""]
    entries = [one for one in entries if one.action != Action.CHANGE_SETTING]
    assert sorted((one.at, one.action, one.actor_name, one.title, one.reason) for one in entries) == [
        (OLD + 7, "remove-comment", "*", "Open", "Bad"), (OLD + 8, "ban", "ann", "cid", "Rude"),
        (OLD + 9, "remove", "~", "Removed", "Spam"),
    ]  # fmt: skip
    (entry,) = site.moderation_log.get_for_article(int(ids["c"])).entries
    assert entry.reason == "Spam"
    assert site.comments.get(int(arrived(Kind.COMMENT)["k5"])).is_logged
    assert problems(site) == []

    site.comments.lock(int(ids["a"]), OPERATOR, "Here")
    report = enter(site, tmp_path / "s")
    assert report.examples["log", "the one here has other entries: what did not come before stays behind"]
    assert len([*site.moderation_log.iterate()]) == 6
    stage(tmp_path / "without log", now)
    assert "log" not in {noun for noun, _ in enter(site, tmp_path / "without log").reasons}
