"""Flags: members report articles and comments to moderators, take flags back, and see what was decided."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from pydantic import BaseModel, Field

from accounts.models import AboutFlag
from accounts.models.law import Act
from accounts.web.form_pages import View, members_only, page_with_form, private_page, show_form, show_next
from articles.api import schemas
from articles.api.protocol.operations import AUTHORS, CommentNumber, OthersArticleNumber, failing, router
from articles.configuration.choices import chosen
from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of, is_root, not_root, root_of
from articles.domain.errors import ActionRefused, CommentRemoved, OwnContent
from articles.domain.flags import FLAGGED_REASON, FlagReason, FlagState, SubjectId
from articles.domain.moderation_log import SITE
from articles.domain.reasons import FLAG_REASONS
from articles.text.lines import REASON_LIMIT, clean_reason
from articles.text.refusals import action_sentence
from articles.web import limits
from articles.web.caching import unlisted
from articles.web.forms.fields import CleanedField, LineInput, RadioButtons, needed_sometimes
from articles.web.identity import actor, is_trusted, reader_id
from articles.web.rules.acting import MemberFacts, judge
from articles.web.wiring import repository
from moderation.statements import BY_SITE, address_of, state

ILLEGAL = "illegal"  # in the form of a flag, where LEGAL_NOTICES is on: it leads to the form of a legal notice
REASONS = {reason: gettext_lazy(text) for reason, text in FLAG_REASONS.items()}  # what members read of each reason


def reasons_for(*, has_link: bool) -> list[FlagReason]:
    """Return why others can flag something; `has_link`: whether it can be a broken link."""
    not_offered = {FlagReason.WITHDRAWAL} | (set() if has_link else {FlagReason.BROKEN_LINK})
    return [reason for reason in REASONS if reason not in not_offered]


class FlagForm(forms.Form):
    """What is wrong with an article, a comment or a profile text."""

    reason = forms.ChoiceField(label=gettext_lazy("What is wrong?"), widget=RadioButtons)
    words = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Details"),
        help_text=gettext_lazy("Only moderators can read this. Required for “Against the rules”: say which rule."),
        widget=LineInput(REASON_LIMIT),
    )

    def __init__(self, *args: Any, has_link: bool, **options: Any) -> None:
        """`has_link`: whether the reason can be a broken link."""
        super().__init__(*args, **options)
        choices = [(reason.value, REASONS[reason]) for reason in reasons_for(has_link=has_link)]
        if chosen.LEGAL_NOTICES:
            choices.append((ILLEGAL, gettext_lazy("Illegal content: continue to the legal form")))
        self.fields["reason"].choices = choices  # type: ignore[attr-defined]
        needed_sometimes(self, "words")

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if "reason" in values and self.reason_chosen.needs_words and values.get("words") == "":
            self.add_error("words", _("Say which rule it breaks."))
        return values

    @property
    def reason_chosen(self) -> FlagReason:
        return FlagReason(self.cleaned_data["reason"])


class WithdrawalForm(forms.Form):
    """Why moderators should withdraw the poster's article."""

    reason = forms.ChoiceField(
        choices=[(FlagReason.WITHDRAWAL.value, REASONS[FlagReason.WITHDRAWAL])],
        initial=FlagReason.WITHDRAWAL.value,
        widget=forms.HiddenInput,
    )
    words = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Details"),
        help_text=gettext_lazy("Only moderators can read this."),
        widget=LineInput(REASON_LIMIT),
    )
    reason_chosen = FlagReason.WITHDRAWAL


FLAGS_SHOWN = 100  # flags of a member on the list, the newest


def flag_page(view: View) -> View:
    """Make a view the page of a flag, at the address of what is flagged and `flag/`. It is for members.

    Where LEGAL_NOTICES is on, everyone sees its form, because a legal notice needs no account.
    """
    of_members = members_only(carries=["reason", "words"])(view)

    @wraps(of_members)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if chosen.LEGAL_NOTICES and request.POST.get("reason") == ILLEGAL:
            query = urlencode({"address": request.path.removesuffix("flag/")})
            return redirect(f"{reverse('articles:new_notice')}?{query}")
        is_open = chosen.LEGAL_NOTICES and request.method != "POST" and not request.user.is_authenticated
        response: HttpResponse = (view if is_open else of_members)(request, *args, **kwargs)
        return response

    return never_cache(page_with_form(guarded))


@flag_page
def by_form(request: HttpRequest, article_id: ArticleId = 0, comment_id: CommentId = 0) -> HttpResponse:
    """Flag an article or a comment, or take the flag back, and return there; show what moderators decided."""
    repo, member, subject = repository(), reader_id(request), comment_id or root_of(article_id)
    comment = repo.comments.get(comment_id) if comment_id else None
    article = repo.articles.get(article_of(subject))
    flag = None if member is None else repo.flags.get(subject, member)
    is_own = member == (comment.author if comment else article.poster)
    if comment and comment.removed is not None and flag is None:
        raise CommentRemoved(comment_id)
    if comment and is_own:
        raise OwnContent(subject)
    if not comment and flag is None:
        article.check_listed()
    initial = {"reason": flag.reason, "words": flag.words} if flag else {}
    form: FlagForm | WithdrawalForm
    if is_own:
        form = WithdrawalForm(request.POST or None, initial=initial)
    else:
        has_link = not comment and bool(article.link)
        form = FlagForm(request.POST or None, has_link=has_link, initial=initial)
    give, take = partial(set_flag, request, subject), partial(take_back, request, subject)
    if request.method == "POST" and (done := change_by_form(request, form, give, take)):
        return show_next(request, done, address_of(subject))
    context: dict[str, Any] = {"article": article, "flag": flag, "reasons": REASONS, "is_own": is_own}
    context |= {"comment": comment} if comment else {}
    return show_form(request, "flags/flag.html", form, **context)


def set_flag(request: HttpRequest, subject: SubjectId, reason: FlagReason, words: str) -> None:
    """Flag an article or a comment, or change the flag. Raises LimitReached, RefusedByRule, and as `Flags.set`."""
    limits.take(request, "flags")
    article_id, flags = article_of(subject), repository().flags
    verdict = judge(request.user, MemberFacts.of_report(request.user, article_id, reason.value, words))
    verdict.refuse()
    trusted = not repository().rules.flags_to_remove or is_trusted(request.user)
    if flags.set(subject, actor(request).id, reason, words, is_trusted=trusted):
        state(flags.get_author(subject), Act.REMOVAL, FLAGGED_REASON, SITE, BY_SITE, subject=subject)
    verdict.carry_out_report(article_id)


def take_back(request: HttpRequest, subject: SubjectId) -> None:
    """Take back a flag that is still open. Idempotent. Raises FlagDecided."""
    repository().flags.take_back(subject, actor(request).id)


def change_by_form(
    request: HttpRequest,
    form: FlagForm | WithdrawalForm,
    give: Callable[[FlagReason, str], object],
    take_back: Callable[[], object],
) -> str:
    """Change the flag as the form says, and return a message; "" if it is refused: then the form has the error."""
    try:
        if "take_back" in request.POST:
            take_back()
            return _("Your flag has been taken back.")
        if form.is_valid():
            give(form.reason_chosen, form.cleaned_data["words"])
            return _("Thank you. The moderators will look at it.")
    except ActionRefused as refused:
        form.add_error(None, action_sentence(refused))
    return ""


@private_page(members_only())
def mine(request: HttpRequest) -> HttpResponse:
    """Show the member's newest flags, and what moderators decided."""
    repo, member = repository(), actor(request).id
    flags = sorted(repo.flags.iterate_by(member), key=lambda flag: flag.at, reverse=True)[:FLAGS_SHOWN]
    ids = dict.fromkeys(article_of(flag.subject) for flag in flags)
    articles = {one.id: one for one in repo.articles.get_many(list(ids))}
    shown = [
        {
            "flag": flag,
            "article": articles[article_of(flag.subject)],
            "comment": None if is_root(flag.subject) else flag.subject,
        }
        for flag in flags
        if article_of(flag.subject) in articles
    ]
    on_members = AboutFlag.objects.filter(flagger=member).select_related("member").order_by("-pk")[:FLAGS_SHOWN]
    context = {"member": request.user, "flags": shown, "reasons": REASONS}
    return unlisted(render(request, "flags/mine.html", context | {"on_members": on_members}))


class NewFlag(schemas.Model):
    """What is wrong with an article or a comment."""

    reason: FlagReason = Field(examples=["against-rules"])
    words: str = Field("", examples=["It insults another member."])
    """For moderators; at most 500 characters. Required for against-rules."""

    @property
    def clean_words(self) -> str:
        """The words without what is unseen. Raises InvalidInput, also without any if the reason needs them."""
        return clean_reason(self.words) if self.words or self.reason.needs_words else ""


class Flag(BaseModel):
    """Your flag. Only you and moderators can see it."""

    article_id: int
    comment_id: int | None = Field(description="null if the article itself is flagged.")
    reason: FlagReason | None = Field(description="null if there is no flag.")
    words: str
    state: FlagState | None = Field(description="Whether moderators have decided, and how.")


_SETS = (
    "Flags it for the moderators, or changes your flag. The moderators decide; "
    "the author can't see who flagged it."
)


@router.put("articles/{article_id:article_id}/flag", description=_SETS, response=failing(409), auth=AUTHORS)
def flag_article(request: HttpRequest, article_id: OthersArticleNumber, flag: NewFlag) -> Flag:
    """Flag an article."""
    set_flag(request, root_of(article_id), flag.reason, flag.clean_words)
    return _current(request, root_of(article_id))


@router.delete("articles/{article_id:article_id}/flag", response=failing(409), auth=AUTHORS)
def take_back_article_flag(request: HttpRequest, article_id: OthersArticleNumber) -> Flag:
    """Take back your flag on an article. Idempotent, until moderators have decided."""
    take_back(request, root_of(article_id))
    return _current(request, root_of(article_id))


@router.put("comments/{comment_id:comment_id}/flag", description=_SETS, response=failing(409), auth=AUTHORS)
def flag_comment(request: HttpRequest, comment_id: CommentNumber, flag: NewFlag) -> Flag:
    """Flag a comment."""
    set_flag(request, not_root(comment_id), flag.reason, flag.clean_words)
    return _current(request, comment_id)


@router.delete("comments/{comment_id:comment_id}/flag", response=failing(409), auth=AUTHORS)
def take_back_comment_flag(request: HttpRequest, comment_id: CommentNumber) -> Flag:
    """Take back your flag on a comment. Idempotent, until moderators have decided."""
    take_back(request, not_root(comment_id))
    return _current(request, comment_id)


def _current(request: HttpRequest, subject: SubjectId) -> Flag:
    flag = repository().flags.get(subject, actor(request).id)
    return Flag(
        article_id=article_of(subject),
        comment_id=None if is_root(subject) else subject,
        reason=flag.reason if flag else None,
        words=flag.words if flag else "",
        state=flag.state if flag else None,
    )
