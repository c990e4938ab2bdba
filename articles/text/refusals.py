"""Why something was refused, as a sentence in the reader's language."""

from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext_lazy

from articles.domain import errors, extras
from articles.domain.limits import BY_NAME
from articles.domain.refusals import refusal_of
from articles.formatting.values import as_shown, duration, full_date, grouped
from articles.text.lines import InvalidInput
from articles.text.messages import INPUT


def input_sentence(refused: InvalidInput) -> str:
    """Return why an input was refused."""
    facts = refused.params.items()
    params = {name: fact if isinstance(fact, str) else grouped(fact) for name, fact in facts}
    return gettext(INPUT[refused.code]) % params


ACTIONS = {
    "article-not-found": gettext_lazy("There is no such article."),
    "article-removed": gettext_lazy("This article has been removed."),
    "article-merged": gettext_lazy("This article was merged into another one."),
    "comment-not-found": gettext_lazy("There is no such comment."),
    "comment-removed": gettext_lazy("This comment was removed by a moderator."),
    "group-not-found": gettext_lazy("There is no such group."),
    "page-not-found": gettext_lazy("There is no such page."),
    "page-too-deep": gettext_lazy("This list ends here. For older articles, use the groups or the search."),
    "not-the-poster": gettext_lazy("Only its poster and moderators can change an article."),
    "not-the-author": gettext_lazy("Only its author can change a comment."),
    "own-comment": gettext_lazy("You cannot vote on your own comment."),
    "own-content": gettext_lazy("You cannot flag what you posted yourself."),
    "flag-decided": gettext_lazy("The moderators have already decided on your flag."),
    "flags-full": gettext_lazy("Many members have already flagged this, and the moderators know about it."),
    "may-not-vouch": gettext_lazy(
        "Only other members can vouch, if they aren’t new or banned and their votes and vouches count."
    ),
    "not-on-probation": gettext_lazy("This member’s votes aren’t waiting, so a vouch would change nothing."),
    "vouches-full": gettext_lazy("You have vouched for as many members as you can for now."),
    "own-matter": gettext_lazy("This concerns you or something you posted. Another moderator has to decide."),
    "own-decision": gettext_lazy("You took this decision yourself. Another moderator has to answer the appeal."),
    "appeal-closed": gettext_lazy("You can no longer appeal against this decision."),
    "decided-for-site": gettext_lazy("A moderator of the whole site decided this. Only they can change it."),
    "refused-by-rule": gettext_lazy("An automatic rule refuses this: “%(sentence)s”."),
    "change-needs-approval": gettext_lazy(
        "An automatic rule does not allow this change: moderators would have to approve it first."
    ),
    "held-for-approval": gettext_lazy("A moderator has to approve this before others can see it."),
    "rule-not-tried": gettext_lazy("Try this version of the rule first."),
    "rules-full": gettext_lazy("The maximum number of automatic rules is on. Switch off one of them first."),
    "held-decided": gettext_lazy("This post was decided or withdrawn in the meantime."),
    "fellow-moderator": gettext_lazy(
        "This member is also a moderator. An administrator has to remove their permission first."
    ),
    "banned": gettext_lazy("%(banned)s Reason: “%(reason)s”."),
    "member-gone": gettext_lazy("This account is deleted."),
    "voting-closed": gettext_lazy("Voting on this article is closed: its voting window has ended."),
    "comment-voting-closed": gettext_lazy("Voting on this comment is closed: its voting window has ended."),
    "discussion-locked": gettext_lazy("This discussion is locked by a moderator."),
    "discussion-full": gettext_lazy("This discussion is full: no more comments can be added."),
    "editing-closed": gettext_lazy("This article can no longer be edited."),
    "withdrawing-closed": gettext_lazy("You can no longer withdraw this article. Please ask a moderator."),
    "duplicate-link": gettext_lazy("Another article with this link was posted recently."),
    "readers-would-change": gettext_lazy(
        "This would change who can read the article. Only a moderator who can assign groups can do that."
    ),
    "groups-decided": gettext_lazy(
        "A moderator decided this about the article’s groups. Only moderators can change it."
    ),
    "merge-across-readers": gettext_lazy(
        "One of these articles is for members only. Give both the same readers first, by their groups."
    ),
    "saved-full": gettext_lazy("You have saved the maximum number of articles. Remove some of them first."),
    "followed-full": gettext_lazy("You follow the maximum number of groups. Unfollow one of them first."),
    "hidden-full": gettext_lazy("You are hiding the maximum number of these. Show one of them again first."),
    "group-exists": gettext_lazy("There is already a group with this name."),
    "not-merged": gettext_lazy("This article is not merged into another one."),
    "has-merges": gettext_lazy(
        "Other articles were merged into this one. Undo that first, or merge the other way round."
    ),
    "merges-full": gettext_lazy("No more articles can be merged into this one."),
    "self-merge": gettext_lazy("Enter another article: an article can’t be merged into itself."),
    "not-removed": gettext_lazy("This article is not removed."),
    "comment-not-removed": gettext_lazy("This comment is not removed."),
    "not-locked": gettext_lazy("This discussion is not locked."),
    "rate-limited": gettext_lazy("%(reason)s Try again in %(wait)s."),
    "new-member-limit": gettext_lazy("%(reason)s %(end)s Try again in %(wait)s."),
    "refused": gettext_lazy("This is not possible right now. Please try again in a moment."),
    "unavailable": gettext_lazy("The site cannot reach its store right now. Please try again in a moment."),
    "damaged": gettext_lazy("What the site has stored for this page is damaged. Its operator can repair it."),
    "unconfirmed": gettext_lazy(
        "The store did not confirm this in time, so it is not certain whether this was saved. "
        "Please try again: nothing counts twice."
    ),
    **{row.key: gettext_lazy(row.sentence) for row in extras.refusals()},
}
"""Sentences of the table in articles/domain/refusals.py, by `Refusal.sentence_key`."""


LIMITS = {
    "votes": gettext_lazy("You are voting too fast."),
    "votes_new": ngettext_lazy(
        "New members can cast %(uses)s vote in %(period)s.",
        "New members can cast %(uses)s votes in %(period)s.",
        "uses",
    ),
    "posts": gettext_lazy("You have posted too many articles in a short time."),
    "posts_new": ngettext_lazy(
        "New members can post %(uses)s article in %(period)s.",
        "New members can post %(uses)s articles in %(period)s.",
        "uses",
    ),
    "comments": gettext_lazy("You have written too many comments in a short time."),
    "comments_new": ngettext_lazy(
        "New members can write %(uses)s comment in %(period)s.",
        "New members can write %(uses)s comments in %(period)s.",
        "uses",
    ),
    "edits_new": ngettext_lazy(
        "New members can edit articles and comments %(uses)s time in %(period)s.",
        "New members can edit articles and comments %(uses)s times in %(period)s.",
        "uses",
    ),
    "mentions": gettext_lazy("You have mentioned too many members in a short time."),
    "mentions_new": ngettext_lazy(
        "New members can mention %(uses)s member in %(period)s.",
        "New members can mention %(uses)s members in %(period)s.",
        "uses",
    ),
    "flags": gettext_lazy("You have flagged too many things in a short time."),
    "changes": gettext_lazy("You have sent too many forms in a short time."),
    "texts": gettext_lazy("You have sent a lot of text in a short time."),
    "large": gettext_lazy("Too many large forms were sent from your network in a short time."),
    "views": gettext_lazy("Too many views were reported in a short time."),
    "search": gettext_lazy("Too many searches in a short time."),
    "feeds": gettext_lazy("Too many feeds were fetched from your network in a short time."),
    "refresh": gettext_lazy("Too many page updates were requested in a short time."),
    "lookups": gettext_lazy("Too many links were looked up in a short time."),
    "previews": gettext_lazy("You have previewed texts too often in a short time."),
    "exports": gettext_lazy("You have downloaded your data too often in a short time."),
    "api": gettext_lazy("Too many requests in a short time."),
    "logins": gettext_lazy("Too many password attempts."),
    "guesses": gettext_lazy(
        "Too many wrong passwords were entered for this account. Log in another way, or reset your password."
    ),
    "codes": gettext_lazy(
        "Too many wrong codes were entered for this account. A passkey or a recovery code still works."
    ),
    "passwords": gettext_lazy("Too many passwords were entered in a short time."),
    "signups": gettext_lazy("Too many sign-ups from your network."),
    "mails": gettext_lazy("Too many password resets were requested."),
    "notices": gettext_lazy("Too many reports were sent in a short time."),
    "receipts": gettext_lazy("A receipt was sent to this address a short while ago."),
    **{row.name: gettext_lazy(row.sentence) for row in extras.limits()},
}
"""Reasons in the sentence of a rate limit, by `Limit.sentence_key`."""


NEW_MEMBERS = {
    (True, False): gettext_lazy("You are a new member until your account is %(age)s old."),
    (True, True): gettext_lazy(
        "You are a new member until your account is %(age)s old and your recent articles have %(points)s points "
        "from members who are no longer new, among them a moderator or three who are unrelated."
    ),
    (False, True): gettext_lazy(
        "You are a new member until your recent articles have %(points)s points from members who are no longer "
        "new, among them a moderator or three who are unrelated."
    ),
}
"""Until when the limits of new members apply, by whether age and points matter."""


BANS = {
    ("posting", False): gettext_lazy("You are banned from posting."),
    ("posting", True): gettext_lazy("You are banned from posting until %(end)s."),
    ("voting", False): gettext_lazy("You are banned from voting."),
    ("voting", True): gettext_lazy("You are banned from voting until %(end)s."),
    ("group", False): gettext_lazy("You are banned from the group “%(group)s”."),
    ("group", True): gettext_lazy("You are banned from the group “%(group)s” until %(end)s."),
}
"""What a ban forbids, by its scope and whether it ends."""

APPEAL = gettext_lazy("%(ban)s You can appeal at %(address)s.")


def action_sentence(error: errors.ArticlesError, *, has_button: bool = False) -> str:
    """Return why the site refused a request; for a ban, also where to appeal, unless a button leads there."""
    sentence = str(ACTIONS[refusal_of(error).sentence_key])
    if isinstance(error, errors.LimitReached):
        reason, end = _limit_facts(error)
        return sentence % {"reason": reason, "end": end, "wait": duration(error.retry_after)}
    if isinstance(error, errors.Banned):
        end = "" if error.ends_at is None else full_date(error.ends_at)
        banned = str(BANS[error.scope, bool(end)]) % {"end": end, "group": error.group}
        ban = sentence % {"banned": banned, "reason": as_shown(error.reason).rstrip(".。")}
        return ban if has_button else str(APPEAL) % {"ban": ban, "address": reverse("articles:appeal")}
    if isinstance(error, errors.RefusedByRule):
        return sentence % {"sentence": error.sentence.rstrip(".。")}
    return sentence


def _limit_facts(error: errors.LimitReached) -> tuple[str, str]:
    """Return why a rate limit refused, and until when it applies; "" if that is for good."""
    reason = LIMITS[BY_NAME[error.limit].sentence_key]
    if not isinstance(error, errors.NewMemberLimitReached):
        return str(reason), ""
    end = until_trusted(error.age, error.points)
    return str(reason % {"uses": error.uses, "period": duration(error.seconds)}), end


def until_trusted(age: float, points: int) -> str:
    """Return until when a member is new: in seconds, and in points from others; each 0 if it does not matter."""
    return str(NEW_MEMBERS[age > 0, points > 0] % {"age": duration(age), "points": points})
