"""A site that was used leaves and moves in elsewhere: plain reads find there what they found here."""

import json

import pytest
from django.apps import apps
from django.core.management import call_command

from accounts.models import Ban, Invitation, User
from articles.backup import accounts
from articles.configuration import choices
from articles.text.searching import Hiding
from articles.web import wiring
from extras.moving_in import exporting
from extras.moving_in.models import Arrival, Kind, Source
from extras.moving_in.tests.readme import follow
from extras.moving_in.tests.test_export_site import rows_of
from extras.moving_in.tests.used_site import SECRET, fill
from tests.store_state import problems


@pytest.fixture
def folder(tmp_path, settings, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings.NAMES, settings.DATA_DIR, settings.MOVING_IN_ADDRESSES = "any", tmp_path, True
    return tmp_path


@pytest.fixture
def begin(new_site, settings):
    """A function that begins an empty site on so many shards."""

    def begin(shards):
        settings.STORE_SHARDS = max(shards, settings.STORE_SHARDS)
        for label in reversed(accounts.MODELS[1:]):  # as if they had never been: signals keep numbers and names
            apps.get_model(label)._base_manager.all()._raw_delete("default")
        choices.forget()
        new_site()
        return wiring.patient_repository()

    return begin


class Here:
    """The site as plain reads find it, by ids of the site that was left: the independent reader."""

    def __init__(self, store, source=None):
        self.store, self.source = store, source
        self.names = dict(User.objects.filter(left_at=None).values_list("pk", "username"))
        own = {number: number for number in range(1, store.imports.count() + 1)}
        self.articles = self._arrived(Kind.ARTICLE) if source else own
        self.old_comments = {new: old for old, new in self._arrived(Kind.COMMENT).items()} if source else {}

    def _arrived(self, kind):
        rows = Arrival.objects.filter(source=self.source, kind=kind).values_list("old_id", "new_id")
        return {int(old): int(new) for old, new in rows}

    def old(self, comment):
        return self.old_comments.get(comment, comment) if comment else None

    def voters(self, *keys):
        sets = [self.store.store.client.smembers(key) for key in keys]
        return [sorted(filter(None, (self.names.get(int(one)) for one in members))) for members in sets]

    def look_at_articles(self):
        found = {}
        for old, new in self.articles.items():
            one, keys = self.store.articles.get(new, with_text=True), self.store.store.shards.of(new)
            if one.merged_into or (self.source and old != self.first_of(new)):
                continue
            found[old] = {
                "written": (one.title, one.link, one.text), "by": (one.poster_name, one.by_deleted_member),
                "times": (one.posted_at, one.closes_at, one.edited_at), "points": (one.votes, one.opposes),
                "removed": one.removed, "locked": one.locked, "groups": sorted(one.groups),
                "voters": self.voters(keys.voted(new), keys.oppose(new)),
            }  # fmt: skip
        return found

    def first_of(self, new):
        return min(old for old, number in self.articles.items() if number == new)

    def look_at_comments(self):
        found = {}
        for old, new in self.articles.items():
            keys = self.store.store.shards.of(new)
            on = self.store.articles.get(new).merged_into or old
            if self.source and old != self.first_of(new):
                continue
            for one in self.store.imports.iterate_comments(new):
                found[self.old(one.id)] = {
                    "on": on, "below": self.old(one.parent), "text": one.text, "removed": one.removed,
                    "by": (one.author_name, one.by_deleted_member), "is_deleted": one.is_deleted,
                    "times": (one.posted_at, one.closes_at, one.edited_at), "points": (one.votes, one.opposes),
                    "voters": self.voters(keys.comment_voted(one.id), keys.comment_oppose(one.id)),
                }  # fmt: skip
        return found

    def look_at_members(self):
        here = {new: self.first_of(new) if self.source else new for new in self.articles.values()}
        inviters = dict(Invitation.objects.values_list("invited__username", "inviter__username"))
        return {
            one.username: {
                "facts": (one.date_joined.timestamp().__round__(3), one.about, inviters.get(one.username)),
                "password": one.password,
                "bans": [
                    (ban.scope, ban.reason, ban.begins_at, ban.ends_at) for ban in Ban.objects.filter(member=one)
                ],
                "banned": (one.is_banned_from("posting"), one.is_banned_from("voting")),
                "saved": [(here[number], at) for number, at in self.store.members.iterate_saved(one.pk)],
                "hidden": [here[number] for number in Hiding.of(one.hidden).articles],
                "follows": (one.followed_groups, one.hidden_groups),
            }
            for one in User.objects.filter(left_at=None)
        }

    def look_at_groups(self):
        closed = choices.closed_groups()
        found = self.store.groups.list_all(with_descriptions=True)
        return {one.slug: (one.title, one.description, one.articles, one.slug in closed) for one in found}

    def look_at_log(self):
        here = {new: self.first_of(new) if self.source else new for new in self.articles.values()}
        found = []
        for one in self.store.moderation_log.iterate():
            number = one.article_id and (self.store.articles.get(one.article_id).merged_into or one.article_id)
            details = {name: text for name, text in one.details.items() if text}
            if "comment" in details:
                details["comment"] = self.old(int(details["comment"]))
            if "target" in details:
                details["target"] = here[int(details["target"])]
            about = (here[number] if number else 0, one.title, one.reason, sorted(details.items()))
            found.append((one.at, str(one.action), one.actor_name, *about))
        return dict(enumerate(sorted(found, key=str)))

    def look(self):
        return {
            "articles": self.look_at_articles(), "comments": self.look_at_comments(),
            "members": self.look_at_members(), "groups": self.look_at_groups(), "log": self.look_at_log(),
        }  # fmt: skip


def move(begin, folder, shards, *, private):
    """Let a used site move; return both as they are found, the source, and its ids."""
    store = begin(1)
    ids = fill(store)
    before = Here(store).look()
    call_command("export_site", str(folder / "out"), private=private)
    store = begin(shards)
    list(follow("From another site of this software", call_command))
    choices.forget()
    assert problems(store) == []
    source = Source.objects.get(name="neighbour")
    return before, Here(store, source).look(), source, ids


@pytest.mark.parametrize("shards", [pytest.param(1, marks=pytest.mark.deep), 4], ids=["1 shard", "4 shards"])
def test_a_trusted_successor_gets_an_equal_site(begin, folder, shards):
    before, after, _source, _ids = move(begin, folder, shards, private=True)
    for one in before["members"].values():
        one["bans"] = [(*facts[:2], _seconds(facts[2]), _seconds(facts[3])) for facts in one["bans"]]
    for one in after["members"].values():
        one["bans"] = [(*facts[:2], _seconds(facts[2]), _seconds(facts[3])) for facts in one["bans"]]
    assert differences(after, before) == []


def differences(found, expected, path=()):
    """Return where two trees differ, each with both values."""
    if isinstance(found, dict) and isinstance(expected, dict):
        names = sorted({*found, *expected}, key=str)
        parts = (differences(found.get(name), expected.get(name), (*path, name)) for name in names)
        return [one for part in parts for one in part]
    return [] if found == expected else [(path, found, expected)]


def _seconds(at):
    return round(at.timestamp(), 3)


@pytest.mark.parametrize("shards", [pytest.param(1, marks=pytest.mark.deep), 4], ids=["1 shard", "4 shards"])
def test_what_readers_saw_is_equal_at_any_successor(begin, folder, shards):
    before, after, _source, ids = move(begin, folder, shards, private=False)
    articles, comments, groups = before["articles"], before["comments"], before["groups"]
    secret = [f"{SECRET}-closed", ids["secret"], ids["in secret"], ids["on removed"]]
    for found in (articles, comments, groups):
        for one in set(secret) & found.keys():
            del found[one]
    groups["web"] = ("The Web", "", 3, False)  # without the article that is in the closed group as well
    for one in articles.values():
        if one["removed"]:
            one["written"] = (one["written"][0], "", "[removed]")
    for one in comments.values():
        one["text"] = "" if one["removed"] else one["text"]
    for found in (articles, comments, after["articles"], after["comments"]):
        for one in found.values():
            one.pop("voters")
    log = [one for one in before["log"].values() if SECRET not in str(one)]
    shown = {kind: after[kind] for kind in ("articles", "comments", "groups", "log")}
    shown["log"] = [*shown["log"].values()]
    assert differences(shown, {"articles": articles, "comments": comments, "groups": groups, "log": log}) == []
    members = {
        name: one["facts"]
        for name, one in before["members"].items()
        if name in ("ann", "bob", "cid", "judge", "张三")
    }
    members["cid"] = (members["cid"][0], "", None)
    assert {name: (one["facts"][0], one["facts"][1], None) for name, one in after["members"].items()} == {
        name: (joined, about, None) for name, (joined, about, _inviter) in members.items()
    }
    assert not any(one["password"].startswith("pbkdf2") for one in after["members"].values())


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
def test_the_successor_exports_the_same(begin, folder, private):
    move(begin, folder, 4, private=private)
    call_command("export_site", str(folder / "more"), private=private)

    came = Arrival.objects.filter(source__name="neighbour").order_by("-pk")  # the first of several old ids counts
    old = {(kind, new): id_ for kind, new, id_ in came.values_list("kind", "new_id", "old_id")}
    merged = {row["old_id"]: row["id"] for row in rows_of(folder / "out", "alias") if row["kind"] == "article"}
    for table in exporting.tables(is_private=private):
        found = sorted(_as_before(row, table, old) for row in rows_of(folder / "more", table))
        rows = rows_of(folder / "out", table)
        if table == "log":
            rows = [
                {**row, **{name: merged.get(row[name], row[name]) for name in row if name == "article"}}
                for row in rows
            ]
        before = sorted(json.dumps(row, sort_keys=True) for row in rows)
        if table == "former":  # and the ids of the site that has moved
            found = [one for one in found if json.loads(one)["source"] != "neighbour"]
        assert found == ([] if table == "alias" else before), table


_KINDS = {"article": Kind.ARTICLE, "comment": Kind.COMMENT, "parent": Kind.COMMENT}


def _as_before(row, table, old):
    """Return a row of the second export as text, with the ids of the first."""
    for name, kind in {**_KINDS, **({"id": _KINDS[table]} if table in _KINDS else {})}.items():
        if name in row:
            row[name] = old[kind, row[name]]
    if "target" in (details := json.loads(row.get("details", "{}"))):
        row["details"] = json.dumps(details | {"target": old[Kind.ARTICLE, details["target"]]}, sort_keys=True)
    if table == "former":
        row["source"] = row["source"].removeprefix("neighbour/")
        kind, _space, new = row["id"].rpartition(" ")
        row["id"] = f"{kind}{_space}{old.get((kind or row['kind'], new), new)}"
    return json.dumps(row, sort_keys=True)
