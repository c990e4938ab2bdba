"""Export everything the site stores about one member, as JSON. docs/privacy.md lists what is left out, and why."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from typing import Any

from accounts.models import Invitation, Vouch
from accounts.models.members import current_name
from articles.configuration.choices import chosen
from articles.domain.articles import Choice
from articles.domain.comments import article_of, is_root
from articles.domain.reasons import recorded
from articles.repository import Repository
from articles.web import extras
from articles.web.preferences import hiding_of, slugs_from

_ARTICLES_PER_BATCH = 200
"""Articles per call to the store and per piece of the response, which starts at once and uses little memory."""


def lines(member: Any, repository: Repository) -> Iterator[str]:
    """Return the file in pieces: one JSON object, with a line for each article, token and log entry.

    Reads from the store before returning, so that an unavailable store raises StoreUnavailable instead of
    truncating the file. Reads articles in batches, in one call each.
    """
    pieces = _pieces(member, repository)
    return chain([next(pieces)], pieces)


def _pieces(member: Any, repository: Repository) -> Iterator[str]:
    members, user = repository.members, member.pk
    repository.articles.get_many([0])
    yield '{\n"format": 1,\n"written": ' + _text(_at(repository.store.now()))
    lists: dict[str, Iterable[Any]] = {
        "posted": _posted(repository, user),
        "voted": _chosen(repository, members.iterate_choices(user, Choice.VOTE)),
        "opposed": _chosen(repository, members.iterate_choices(user, Choice.OPPOSE)),
        "saved": _chosen(repository, members.iterate_saved(user)),
        "visited": _chosen(repository, members.list_visits(user)),
        "comments": _objects(
            repository.comments.list_by(user),
            "id", "article", "parent", "text", ("at", _time("posted_at")), ("edited", _time("edited_at")),
            "votes", "opposes", "removed",
        ),
        "flags": _objects(
            repository.flags.iterate_by(user),
            *_SUBJECT, "reason", ("words", _filled("words")), ("at", _time("at")), "state",
        ),
        "flags_on_members": _objects(
            member.flags_on_abouts.select_related("member"),
            ("member", lambda flag: flag.member.get_username()),
            "reason",
            ("words", _filled("words")),
            ("at", "set_at"),
            "state",
        ),
        "held_posts": _objects(
            member.held_posts.all(),
            "article", ("parent", lambda held: int(held.parent) if held.parent else None), "title",
            ("link", _filled("link")), ("text", _filled("text")), ("groups", "slugs"), ("held", "held_at"),
            "state", ("reason", _filled("reason")),
        ),
        "inbox": _objects(repository.inbox.iterate(user), ("about", "word"), ("at", _time("at")), *_SUBJECT),
        "bans": _objects(
            member.bans.list_all(),
            ("from", "scope"), ("group", _filled("group")), ("reason", lambda ban: recorded(ban.reason)),
            ("begins", "begins_at"), ("ends", "ends_at"),
            *((outcome, partial(_time_of_outcome, outcome)) for outcome in ("lifted", "replaced")),
            ("appeal", _filled("appeal")), ("answer", _filled("answer")),
        ),
        "moderated_groups": _objects(
            member.group_moderations.all(), "group", ("moderates", "is_current"), ("since", "changed_at")
        ),
        "decisions": _objects(
            member.statements.all(),
            "act", ("at", "made_at"), *_SUBJECT, ("reason", lambda one: recorded(one.reason)),
            ("ground", _filled("ground")), ("cited", lambda one: recorded(one.cited) or None),
            ("facts", _filled("facts")), ("automated", "is_automated"), ("appeal", _filled("appeal")),
            ("answer", _filled("answer")), "upheld", ("reversed", "reversed_at"),
        ),
        "notes_by_moderators": _objects(member.notes.all(), "text", ("written", "written_at")),
        "passkeys": _objects(
            member.passkeys.all(), "name", ("added", "created_at"), ("last_used", "last_used_at")
        ),
        "tokens": _objects(
            member.tokens.all(),
            "name", ("made", "created_at"), ("used", "last_used_at"), ("expires", "expires_at"),
            ("scopes", lambda token: token.scopes.split()),
        ),
        "invitations": _objects(
            member.invitations.select_related("invited"),
            ("created", "created_at"), ("expires", "expires_at"), ("invited", _filled("invited_name")),
        ),
        "vouches_given": _objects(
            member.vouches_given.select_related("member"),
            ("for", _filled("member_name")), ("given", "given_at"), ("was_wrong", "wrong_at"),
        ),
        "vouches": map(_vouch, member.vouches.select_related("by")),
        "moderated": _objects(
            repository.moderation_log.iterate(member.get_username()),
            "action", ("at", _time("at")), ("article", _filled("article_id")), "title", "reason", "details",
        ),
        **extras.export(member, repository),
    }  # fmt: skip
    state = repository.left_out.get_state(user)
    votes = {"votes_left_out_of_ranking": state.is_left_out, "votes_wait": state.waits}
    for name, value in (("account", _account(member) | votes), ("settings", _settings(member))):
        yield f',\n"{name}": {_text(value)}'
    for name, entries in lists.items():
        yield f',\n"{name}": ['
        for number, entry in enumerate(entries):
            yield (",\n" if number else "\n") + _text(entry)
        yield "]"
    yield "\n}\n"


def _account(member: Any) -> dict[str, Any]:
    return {
        "id": member.pk,
        "name": member.get_username(),
        "email": member.email,
        "email_verified": member.has_verified_email,
        "last_verified_email": member.verified_email,
        "joined": member.date_joined,
        "last_login": member.last_login,
        "came_with_an_import": member.imported,
        "second_step": member.second_factor,
        "ballot_key": bytes(member.ballot_key.key).hex() if hasattr(member, "ballot_key") else None,
        "recovery_codes_left": member.recovery_codes.count(),
        "trusted_since": member.trusted_at,
        "about": member.about,
        "about_removed": member.about_removed or None,
        "invited_by": _inviter(member),
        "member_of": sorted(member.groups.values_list("name", flat=True)),
    }


_Field = str | tuple[str, str | Callable[[Any], Any]]


def _objects(rows: Iterable[Any], *fields: _Field) -> Iterator[dict[str, Any]]:
    """Yield an object for each row. A field is an attribute, or its name with another attribute or a function."""
    named = [(field, field) if isinstance(field, str) else field for field in fields]
    for row in rows:
        yield {name: getattr(row, of) if isinstance(of, str) else of(row) for name, of in named}


def _filled(attribute: str) -> Callable[[Any], Any]:
    """Return a function that returns an attribute, None if it is empty."""
    return lambda row: getattr(row, attribute) or None


def _time(attribute: str) -> Callable[[Any], str | None]:
    """Return a function that returns a time in Unix seconds as the file has it."""
    return lambda row: None if (at := getattr(row, attribute)) is None else _at(at)


_SUBJECT = (
    ("article", lambda row: article_of(row.subject) if row.subject else None),
    ("comment", lambda row: None if not row.subject or is_root(row.subject) else row.subject),
)
"""The article, and the comment if it is one, that a flag, a notice or a decision is about."""


def _time_of_outcome(outcome: str, ban: Any) -> datetime | None:
    return ban.lifted_at if ban.outcome == outcome else None


def _inviter(member: Any) -> str | None:
    """Return who invited the member: null for no one, "" for a deleted account."""
    own = Invitation.objects.filter(invited=member.pk).select_related("inviter").first()
    return current_name(own.inviter) if own else None


def _vouch(vouch: Vouch) -> dict[str, Any]:
    """Return a vouch for the member; who gave it is told where everyone sees who invited whom."""
    by = {"by": vouch.by_name or None} if chosen.INVITATION_TREE == "public" else {}
    return by | {"given": vouch.given_at}


def _settings(member: Any) -> dict[str, Any]:
    hiding = hiding_of(member)
    return {
        "language": member.language,
        "theme": member.theme,
        "keyboard": member.keyboard,
        "remembers_read": member.remembers_read,
        "hides_read": member.hides_read,
        "hidden_groups": list(hiding.groups),
        "hidden_hosts": list(hiding.hosts),
        "hidden_words": list(hiding.words),
        "hidden_articles": list(hiding.articles),
        "blocked_members": sorted(member.blocks.values_list("blocked__username", flat=True)),
        "muted_discussions": sorted(member.mutes.values_list("article", flat=True)),
        "mail_about": [kind for kind in member.mail_kinds.split(",") if kind],
        "weekly_mail": member.digest,
        "mail_to_moderators": member.waiting_mail or None,
        "inbox_read_until": _at(member.inbox_read_until) if member.inbox_read_until else None,
        "followed_groups": list(slugs_from(member.followed_groups)),
        "private_feed": bool(member.feed_key),
    }


def _posted(repository: Repository, user: int) -> Iterator[dict[str, Any]]:
    for batch in _batches(repository.members.iterate_posted(user)):
        for article in repository.articles.get_many(list(batch), with_texts=True):
            yield {
                "id": article.id,
                **{name: value or None for name, value in article.written.items()},
                "posted": _at(article.posted_at),
                "votes": article.votes,
                "opposes": article.opposes,
                "views": article.pv,
                "visitors": article.uv,
                "groups": list(article.groups),
                "removed": article.removed,
                "merged_into": article.merged_into,
            }


def _chosen(repository: Repository, entries: Iterable[tuple[int, float]]) -> Iterator[dict[str, Any]]:
    for moments in _batches(entries):
        for article in repository.articles.get_many(list(moments)):
            link, at = article.link or None, _at(moments[article.id])
            yield {"id": article.id, "title": article.title, "link": link, "at": at}


def _batches(entries: Iterable[tuple[int, float]]) -> Iterator[dict[int, float]]:
    remaining = iter(entries)
    while batch := dict(islice(remaining, _ARTICLES_PER_BATCH)):
        yield batch


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _iso(moment: Any) -> str:
    return str(moment.astimezone(UTC).isoformat(timespec="seconds"))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_iso)
