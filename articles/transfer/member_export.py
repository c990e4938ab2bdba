"""Export everything the site stores about one member, as JSON. docs/privacy.md lists what is left out, and why."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from accounts.models import Invitation, Vouch
from accounts.models.members import current_name
from articles.domain.articles import Choice
from articles.domain.comments import Comment, article_of, is_root
from articles.domain.flags import Flag
from articles.domain.moderation_log import LogEntry
from articles.domain.notices import NoticePointer
from articles.domain.reasons import recorded
from articles.domain.suggestions import Suggestion
from articles.repository import Repository
from articles.web.preferences import hiding_of, slugs_from
from owner.choices import chosen

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
        "comments": map(_comment, repository.comments.list_by(user)),
        "flags": map(_flag, repository.flags.iterate_by(user)),
        "suggestions": map(_suggestion, repository.suggestions.iterate_by(user)),
        "flags_on_members": map(_about_flag, member.flags_on_abouts.select_related("member")),
        "held_posts": map(_held, member.held_posts.all()),
        "inbox": map(_notice, repository.inbox.iterate(user)),
        "bans": map(_ban, member.bans.list_all()),
        "moderated_groups": map(_moderation, member.group_moderations.all()),
        "decisions": map(_statement, member.statements.all()),
        "notes_by_moderators": map(_note, member.notes.all()),
        "logins_elsewhere": map(_identity, member.identities.all()),
        "passkeys": map(_passkey, member.passkeys.all()),
        "tokens": map(_token, member.tokens.all()),
        "devices": map(_device, member.devices.select_related("session", "token")),
        "webhooks": map(_webhook, member.webhooks.all()),
        "invitations": map(_invitation, member.invitations.select_related("invited")),
        "vouches_given": map(_vouch_given, member.vouches_given.select_related("member")),
        "vouches": map(_vouch, member.vouches.select_related("by")),
        "moderated": map(_entry, repository.moderation_log.iterate(member.get_username())),
    }
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
        "joined": _iso(member.date_joined),
        "last_login": _iso(member.last_login),
        "came_with_an_import": member.imported,
        "second_step": member.second_factor,
        "ballot_key": bytes(member.ballot_key.key).hex() if hasattr(member, "ballot_key") else None,
        "recovery_codes_left": member.recovery_codes.count(),
        "trusted_since": _iso(member.trusted_at),
        "about": member.about,
        "about_removed": member.about_removed or None,
        "invited_by": _inviter(member),
        "member_of": sorted(member.groups.values_list("name", flat=True)),
    }


def _passkey(passkey: Any) -> dict[str, Any]:
    return {"name": passkey.name, "added": _iso(passkey.created_at), "last_used": _iso(passkey.last_used_at)}


def _device(device: Any) -> dict[str, Any]:
    return {"device": device.label, "since": _iso(device.added_at)}


def _webhook(webhook: Any) -> dict[str, Any]:
    return {
        "host": webhook.host,
        "events": webhook.event_list,
        "groups": webhook.slugs,
        "added": _iso(webhook.added_at),
    }


def _suggestion(supported: tuple[int, Suggestion]) -> dict[str, Any]:
    article, suggestion = supported
    return {"article": article, suggestion.kind.value: suggestion.to, "since": _at(suggestion.at)}


def _inviter(member: Any) -> str | None:
    """Return who invited the member: null for no one, "" for a deleted account."""
    own = Invitation.objects.filter(invited=member.pk).select_related("inviter").first()
    return current_name(own.inviter) if own else None


def _invitation(invitation: Any) -> dict[str, Any]:
    return {
        "created": _iso(invitation.created_at),
        "expires": _iso(invitation.expires_at),
        "invited": invitation.invited_name or None,
    }


def _vouch_given(vouch: Vouch) -> dict[str, Any]:
    return {"for": vouch.member_name or None, "given": _iso(vouch.given_at), "was_wrong": _iso(vouch.wrong_at)}


def _vouch(vouch: Vouch) -> dict[str, Any]:
    """Return a vouch for the member; who gave it is told where everyone sees who invited whom."""
    by = {"by": vouch.by_name or None} if chosen.INVITATION_TREE == "public" else {}
    return by | {"given": _iso(vouch.given_at)}


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
        "pushed_about": [kind for kind in member.push_kinds.split(",") if kind],
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


def _comment(comment: Comment) -> dict[str, Any]:
    return {
        "id": comment.id,
        "article": comment.article,
        "parent": comment.parent,
        "text": comment.text,
        "at": _at(comment.posted_at),
        "edited": None if comment.edited_at is None else _at(comment.edited_at),
        "votes": comment.votes,
        "opposes": comment.opposes,
        "removed": comment.removed,
    }


def _flag(flag: Flag) -> dict[str, Any]:
    return {
        "article": article_of(flag.subject),
        "comment": None if is_root(flag.subject) else flag.subject,
        "reason": flag.reason.value,
        "words": flag.words or None,
        "at": _at(flag.at),
        "state": flag.state.value,
    }


def _about_flag(flag: Any) -> dict[str, Any]:
    return {
        "member": flag.member.get_username(),
        "reason": flag.reason,
        "words": flag.words or None,
        "at": _iso(flag.set_at),
        "state": flag.state,
    }


def _held(held: Any) -> dict[str, Any]:
    return {
        "article": held.article,
        "parent": int(held.parent) if held.parent else None,
        "title": held.title,
        "link": held.link or None,
        "text": held.text or None,
        "groups": held.slugs,
        "held": _iso(held.held_at),
        "state": held.state,
        "reason": held.reason or None,
    }


def _notice(pointer: NoticePointer) -> dict[str, Any]:
    return {
        "about": pointer.word,
        "at": _at(pointer.at),
        "article": article_of(pointer.subject),
        "comment": None if is_root(pointer.subject) else pointer.subject,
    }


def _ban(ban: Any) -> dict[str, Any]:
    return {
        "from": ban.scope,
        "group": ban.group or None,
        "reason": recorded(ban.reason),
        "begins": _iso(ban.begins_at),
        "ends": _iso(ban.ends_at),
        "lifted": _iso(ban.lifted_at) if ban.outcome == "lifted" else None,
        "replaced": _iso(ban.lifted_at) if ban.outcome == "replaced" else None,
        "appeal": ban.appeal or None,
        "answer": ban.answer or None,
    }


def _moderation(row: Any) -> dict[str, Any]:
    return {"group": row.group, "moderates": row.is_current, "since": _iso(row.changed_at)}


def _statement(statement: Any) -> dict[str, Any]:
    subject = statement.subject
    return {
        "act": statement.act,
        "at": _iso(statement.made_at),
        "article": article_of(subject) if subject else None,
        "comment": subject if subject and not is_root(subject) else None,
        "reason": recorded(statement.reason),
        "ground": statement.ground or None,
        "cited": recorded(statement.cited) or None,
        "facts": statement.facts or None,
        "automated": statement.is_automated,
        "appeal": statement.appeal or None,
        "answer": statement.answer or None,
        "upheld": statement.upheld,
        "reversed": _iso(statement.reversed_at),
    }


def _note(note: Any) -> dict[str, Any]:
    return {"text": note.text, "written": _iso(note.written_at)}


def _batches(entries: Iterable[tuple[int, float]]) -> Iterator[dict[int, float]]:
    remaining = iter(entries)
    while batch := dict(islice(remaining, _ARTICLES_PER_BATCH)):
        yield batch


def _identity(identity: Any) -> dict[str, Any]:
    return {
        "issuer": identity.issuer,
        "subject": identity.subject,
        "label": identity.label,
        "made_moderator": identity.gives_moderation,
        "linked": _iso(identity.linked_at),
        "used": _iso(identity.last_used_at),
    }


def _token(token: Any) -> dict[str, Any]:
    return {
        "name": token.name,
        "made": _iso(token.created_at),
        "used": _iso(token.last_used_at),
        "expires": _iso(token.expires_at),
        "scopes": token.scopes.split(),
    }


def _entry(entry: LogEntry) -> dict[str, Any]:
    return {
        "action": entry.action.value,
        "at": _at(entry.at),
        "article": entry.article_id or None,
        "title": entry.title,
        "reason": entry.reason,
        "details": entry.details,
    }


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
