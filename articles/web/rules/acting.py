"""What the core asks of moderators' rules at each post, edit, sign-up and flag, and what rules then do.

A refusal wins over holding, and holding over the rest. Rules never apply to members who may manage them. Without
rules, a post costs one look at what the process remembers.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import HeldPost, ModeratorRule, TextDigest
from accounts.models.rules import WAITING
from accounts.moderators import REMOVE_ARTICLES
from articles.configuration.recent import Recent
from articles.domain import errors
from articles.domain.articles import ArticleId, Content
from articles.domain.flags import FlagState, SubjectId, rules_named
from articles.domain.moderation_log import SITE, Action, rule_actor
from articles.domain.reasons import BY_RULE
from articles.text.markdown import links_in, render
from articles.web.identity import points_that_count
from articles.web.rights import changes_readers, may
from articles.web.rules.matching import Definition, Facts, Rule, RuleAct, Rules, Subject
from articles.web.wiring import repository

_log = logging.getLogger(__name__)

_DAY = 86400  # seconds


def _load() -> Mapping[Subject, Rules]:
    """Return the rules that are on, by what they look at. One query; they are compiled only if they changed."""
    found = [Rule(row.name, Definition.of(vars(row)["definition"])) for row in ModeratorRule.objects.on()]
    return _compiled(tuple(found))


@lru_cache(1)
def _compiled(rules: tuple[Rule, ...]) -> Mapping[Subject, Rules]:
    return {
        subject: Rules(found)
        for subject in Subject
        if (found := [one for one in rules if one.definition.subject is subject])
    }


_rules: Recent[Mapping[Subject, Rules]] = Recent(_load, {})
forget = _rules.forget


class MemberFacts(Facts):
    """What rules can ask about something that a member posts now."""

    def __init__(
        self,
        subject: Subject,
        author: Any,
        *lines: str,
        link: str = "",
        groups: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`lines`: what the member wrote, the text with Markdown last; `groups`: returns the article's groups."""
        super().__init__(subject, "\n".join(lines))
        self._author, self._body, self._link, self._groups = author, lines[-1], link, groups

    @classmethod
    def of_article(cls, author: Any, content: Content, groups: Sequence[str]) -> "MemberFacts":
        """Return the facts of an article that is posted, or edited to this."""
        lines = content.title, content.link, content.text
        return cls(Subject.ARTICLE, author, *lines, link=content.link, groups=lambda: groups)

    @classmethod
    def of_comment(cls, author: Any, article_id: ArticleId, text: str) -> "MemberFacts":
        """Return the facts of a comment that is posted, or edited to this."""
        return cls(Subject.COMMENT, author, text, groups=lambda: repository().articles.get(article_id).groups)

    @classmethod
    def of_report(cls, reporter: Any, article_id: ArticleId, reason: str, words: str) -> "MemberFacts":
        """Return the facts of a flag on an article, or on a comment of it."""
        groups = lambda: repository().articles.get(article_id).groups  # noqa: E731
        return cls(Subject.REPORT, reporter, reason, words, groups=groups)

    @cached_property
    def groups(self) -> Sequence[str]:
        return self._groups()

    @cached_property
    def links(self) -> Sequence[str]:
        return links_of(self._link, self._body)

    @cached_property
    def age_days(self) -> float:
        return float((timezone.now() - self._author.date_joined).total_seconds()) / _DAY

    @cached_property
    def points(self) -> int:
        return points_that_count(self._author)

    def count_posts(self, hours: int) -> int:
        return self._count(repository().store.now() - hours * 3600)[self.subject is Subject.COMMENT]

    def _count(self, since: float) -> tuple[int, int]:
        return repository().members.count_posted(self._author.pk, since)

    def count_others(self, days: int) -> int:
        return TextDigest.objects.count_others(self.digest, self._author.pk, days) if self.digest else 0


def links_of(link: str, text: str) -> list[str]:
    """Return an article's link and the links in a text; without those to pages of the site and mail addresses."""
    html = render(text, private_links=settings.ALLOW_PRIVATE_LINKS)
    return [one for one in (link, *links_in(html)) if one.startswith("http")]


class Verdict:
    """What the rules that match do with something that is posted."""

    def __init__(self, author: Any, facts: Facts, matching: Sequence[Rule], *, notes_text: bool) -> None:
        self._author, self._facts, self._matching, self._notes_text = author, facts, matching, notes_text

    def _by(self, *acts: RuleAct) -> list[Rule]:
        return [one for one in self._matching if one.definition.act in acts]

    def refuse(self) -> None:
        """Raise RefusedByRule if a rule refuses it."""
        for one in self._by(RuleAct.REFUSE)[:1]:
            ModeratorRule.objects.count_hits([one.name])
            raise errors.RefusedByRule(one.definition.sentence)

    def refuse_change(self) -> None:
        """Raise RefusedByRule, or ChangeNeedsApproval, if a rule does not permit to edit something to this."""
        self.refuse()
        for one in self._by(RuleAct.HOLD)[:1]:
            ModeratorRule.objects.count_hits([one.name])
            raise errors.ChangeNeedsApproval

    @property
    def is_held(self) -> bool:
        return bool(self._by(RuleAct.HOLD))

    def hold(self, **what: Any) -> None:
        """Keep the post until a moderator decides, and raise HeldForApproval. Sent again, it is kept once."""
        name = self._by(RuleAct.HOLD)[0].name
        held = HeldPost.objects.filter(author=self._author, state=WAITING, **what).first()
        if held is None:
            rule = ModeratorRule.objects.get(name=name)
            held = HeldPost.objects.create(author=self._author, rule=rule, **what)
            ModeratorRule.objects.count_hits([name])
            self.note_text()
        raise errors.HeldForApproval(held.pk)

    def note_text(self) -> None:
        """Note a digest of the text if a rule asks whether texts are repeated. Mostly no query."""
        if self._notes_text and self._facts.digest:
            TextDigest.objects.note(self._facts.digest, self._author.pk)

    def carry_out(self, subject: SubjectId, article_id: ArticleId, *, is_new: bool) -> None:
        """Flag what was posted or edited; change the groups and the discussion of an article that is new."""
        self.note_text()
        self._count(
            lambda: self._flag(subject) + (self._change_article(article_id, is_new=True) if is_new else [])
        )

    def carry_out_report(self, article_id: ArticleId) -> None:
        """Change the groups and the discussion of the article that was flagged."""
        self._count(lambda: self._change_article(article_id, is_new=False))

    def _count(self, act: Callable[[], list[str]]) -> None:
        """Let rules act, and count those that did. A failure of the store does not undo the post: it is logged."""
        if not self._matching:
            return
        try:
            names = act()
        except errors.StoreError:
            _log.exception("rules of the moderators could not act")
        else:
            ModeratorRule.objects.count_hits(names)

    def _flag(self, subject: SubjectId) -> list[str]:
        names = [one.name for one in self._by(RuleAct.FLAG)]
        with suppress(errors.FlagDecided):
            if names:
                repository().flags.set_by_rules(subject, names)
            return names
        return []

    def _change_article(self, article_id: ArticleId, *, is_new: bool) -> list[str]:
        """Put the article into groups or out of them, and lock its discussion; return the rules that did."""
        return [
            one.name
            for one in self._by(RuleAct.JOIN, RuleAct.LEAVE, RuleAct.LOCK)
            if _change(article_id, one, is_new=is_new)
        ]


def _change(article_id: ArticleId, rule: Rule, *, is_new: bool) -> bool:
    """Let a rule change an article once: what moderators reverse stays reversed. Return whether it did."""
    repo, wanted, by = repository(), rule.definition, rule_actor(rule.name)
    if any(one.actor_name == by.name for one in repo.moderation_log.get_for_article(article_id).entries):
        return False
    if wanted.act is RuleAct.LOCK:
        with suppress(errors.DiscussionLocked):
            repo.comments.lock(article_id, by, wanted.sentence or BY_RULE)
            return True
        return False
    article = repo.articles.get(article_id)
    joins = wanted.act is RuleAct.JOIN
    if (wanted.group in article.groups) is joins or wanted.group not in repo.groups.get_titles():
        return False
    add, remove = ([wanted.group], []) if joins else ([], [wanted.group])
    after = {*article.groups, *add} - {*remove}
    if changes_readers(article.groups, after) or (article.groups and not after and not is_new):
        return False  # moderators decide that
    repo.groups.assign(article_id, add, remove, actor=by, reason=wanted.sentence)
    return True


def judge(author: Any, facts: Facts, *, is_approved: bool = False) -> Verdict:
    """Return what the rules do with it: nothing if a moderator approved it. At most one query without rules."""
    rules = None if is_approved else _rules.get().get(facts.subject)
    if rules is None or may(author, REMOVE_ARTICLES):  # who may manage rules
        return Verdict(author, facts, (), notes_text=False)
    return Verdict(author, facts, rules.matching(facts), notes_text=rules.ask_for_repeats)


def check_name(name: str) -> tuple[str, bool]:
    """Return the sentence with which a rule refuses the name of a new account, and whether one holds it."""
    rules = _rules.get().get(Subject.NAME)
    matching = rules.matching(Facts(Subject.NAME, name)) if rules else []
    first = next(
        (one for act in (RuleAct.REFUSE, RuleAct.HOLD) for one in matching if one.definition.act is act), None
    )
    if first is None:
        return "", False
    ModeratorRule.objects.count_hits([first.name])
    is_refused = first.definition.act is RuleAct.REFUSE
    return first.definition.sentence if is_refused else "", not is_refused


# What moderators reverse


def note_kept(subject: SubjectId) -> None:
    """Count that moderators keep what rules flagged. Call it before they do. One round trip."""
    flag = repository().flags.get(subject, SITE.id)
    if flag and flag.state is FlagState.OPEN:
        ModeratorRule.objects.count_reversals(rules_named(flag.words))


def note_reversal(article_id: ArticleId) -> None:
    """Count the rules whose change of groups, or lock, the newest entry of an article's log reverses.

    One round trip. A group counts if a rule was the last to put the article into it or out of it.
    """
    newest, *before = repository().moderation_log.get_for_article(article_id).entries or (None,)
    names = set[str]()
    if newest and newest.action is Action.UNLOCK:
        names = {next((one.rule for one in before if one.action is Action.LOCK), "")}
    elif newest and newest.action is Action.GROUPS:
        for now, was in (("added", "removed"), ("removed", "added")):
            for slug in newest.slugs(now):
                last = next((one for one in before if slug in (*one.slugs(now), *one.slugs(was))), None)
                names |= {last.rule} if last and slug in last.slugs(was) else set()
    if names := names - {""}:
        ModeratorRule.objects.count_reversals(sorted(names))
