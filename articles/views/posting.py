"""Post and edit articles, and look up the article that has a link."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.moderators import EDIT_ANY_ARTICLE
from accounts.web import sent_forms
from accounts.web.form_pages import members_only, page_with_form, private_act, show_form, show_next, with_address
from accounts.web.sent_forms import RESUBMISSION_WINDOW
from articles.domain.articles import CONTENT, Article, ArticleId
from articles.domain.errors import ActionRefused, Banned, DuplicateLink, HeldForApproval, RefusedByRule
from articles.domain.members import UserId
from articles.formatting.kept import drawn
from articles.formatting.values import grouped
from articles.repository import Repository
from articles.text.lines import InvalidInput, clean_text
from articles.text.links import clean_link
from articles.text.refusals import action_sentence, input_sentence
from articles.views.about import shared_content
from articles.web import articles, extras
from articles.web.form_answers import telling
from articles.web.forms.articles import EditForm, PostForm
from articles.web.identity import actor, offer_no_banned_group, reader_id, writer
from articles.web.rights import may
from articles.web.wiring import html_of, repository


@page_with_form
@members_only(carries=[*CONTENT, "groups"])
@with_address
def post(request: HttpRequest) -> HttpResponse:
    writer(request)
    repo = repository()
    initial = shared_content(*(request.GET.get(name, "") for name in ("title", "link", "text")))
    form = PostForm(request.POST or None, groups=repo.groups.list_all(), rules=repo.rules, initial=initial)
    offer_no_banned_group(form, request.user)
    shown = form.preview(request)
    added = extras.post_form_parts(request, form)
    is_sent = request.method == "POST" and shown is None and not any(part.is_asked for part in added)
    if is_sent and form.is_valid():
        try:
            posted = articles.post(request, form.content, form.cleaned_data["groups"])
        except Banned as banned:  # from one of the groups
            form.add_error("groups", action_sentence(banned))
        except RefusedByRule as refused:
            form.add_error(None, action_sentence(refused))
        except HeldForApproval as held:
            return to_held(request, held)
        else:
            if posted.is_new:
                messages.success(request, _posted_message(repo.rules.edit_window))
            elif not _just_posted(repo, posted.id, actor(request).id):
                messages.info(request, _known_message(form))
            return redirect("articles:article", posted.id)
    sent_forms.refill(request, form)
    link = str(form["link"].value() or "")
    context = {"form": form, "preview": shown, "known": _posted_before(request, link), "added": added}
    return render(request, "articles/post.html", context, status=400 if form.errors else 200)


def to_held(request: HttpRequest, held: HeldForApproval) -> HttpResponse:
    """Lead the author to what waits for a moderator."""
    messages.info(request, action_sentence(held))
    return redirect("articles:held")


def _known_message(form: PostForm) -> str:
    """Return the message for a member whose link or text had been posted before."""
    if form.cleaned_data["link"]:
        return _("This link has already been posted. You can vote for it here.")
    return _("This text has already been posted. You can vote for it here.")


def _posted_message(edit_window: float) -> str:
    """Return the message for the poster of a new article."""
    if minutes := int(edit_window // 60):
        text = ngettext(
            "Your article has been posted. You can edit it for %(num)s minute.",
            "Your article has been posted. You can edit it for %(num)s minutes.",
            minutes,
        )
        return text % {"num": grouped(minutes)}
    return _("Your article has been posted.")


def _just_posted(repo: Repository, article_id: ArticleId, poster: UserId) -> bool:
    """Return whether the member posted the article a moment ago: the form was resubmitted."""
    article = repo.articles.get(article_id)
    return article.poster == poster and repo.store.now() - article.posted_at <= RESUBMISSION_WINDOW.total_seconds()


@page_with_form
@members_only(carries=[*CONTENT, "groups", "was", "reason"])
@with_address
def edit(request: HttpRequest, article_id: int) -> HttpResponse:
    repo = repository()
    writer(request, lambda: repo.articles.get(article_id).groups)
    article = repo.articles.get(article_id, with_text=True)
    moderator, is_poster = may(request.user, EDIT_ANY_ARTICLE), article.poster == reader_id(request)
    if not moderator and not is_poster:
        raise PermissionDenied
    article.check_unmerged()
    until, now = article.posted_at + repo.rules.edit_window, repo.store.now()
    form = EditForm(
        request.POST or None,
        article=article,
        groups=repo.groups.list_all() if is_poster and (not moderator or now <= until) else (),
        most_groups=repo.rules.max_groups_by_poster,
        moderator=moderator,
    )
    offer_no_banned_group(form, request.user)
    shown = form.preview(request)
    if (
        request.method == "POST"
        and shown is None
        and form.is_valid()
        and _edit(request, article, form, moderator=moderator)
    ):
        return show_next(request, _("Your changes have been saved."), "articles:article", article_id)
    no_form = not moderator and until < now
    context = {"article": article, "until": None if moderator else until, "preview": shown, "no_form": no_form}
    return show_form(request, "articles/edit.html", form, **context)


def _edit(request: HttpRequest, article: Article, form: EditForm, *, moderator: bool) -> bool:
    """Change the article and return whether that succeeded; if not, the form has the error."""
    join, leave = form.changes
    try:
        articles.edit(
            request,
            article,
            form.content,
            join=join,
            leave=leave,
            as_moderator=moderator,
            reason=form.cleaned_data.get("reason", ""),
        )
    except DuplicateLink as duplicate:
        form.add_error("link", action_sentence(duplicate))
    except ActionRefused as refused:
        form.add_error(None, action_sentence(refused))
    return not form.errors


@page_with_form
@members_only()
def withdraw(request: HttpRequest, article_id: int) -> HttpResponse:
    """Ask whether the poster wants to withdraw the article, and remove it."""
    repo = repository()
    article = repo.articles.get(article_id)
    if article.poster != reader_id(request):
        raise PermissionDenied
    if request.method == "POST":
        with telling(request):
            articles.withdraw(request, article_id)
            messages.success(request, _("Your article has been withdrawn."))
        return redirect("articles:article", article_id)
    until = article.posted_at + repo.rules.edit_window
    no_form = until < repo.store.now()
    return show_form(request, "articles/withdraw.html", Form(), article=article, until=until, no_form=no_form)


@private_act(members_only(), page="articles:post", button=gettext_lazy("Preview"))
def preview(request: HttpRequest) -> HttpResponse:
    """Return the HTML of a text that a member types, as JSON; 400 with a sentence if the text is refused."""
    try:
        return JsonResponse({"html": html_of(clean_text(request.POST.get("text", "")))})
    except InvalidInput as refused:
        return JsonResponse({"error": input_sentence(refused)}, status=400)


@never_cache
@require_safe
def known_link(request: HttpRequest) -> HttpResponse:
    """Return the HTML that the form shows about `?link=`, as JSON; {} if it was not posted before.

    For members only, as posting is. An invalid or incomplete link counts as not posted.
    """
    if not request.user.is_authenticated:
        return JsonResponse({}, status=401)
    html = _posted_before(request, request.GET.get("link", ""))
    return JsonResponse({"html": html} if html else {})


def _posted_before(request: HttpRequest, raw: str) -> str:
    """Return what the form shows of earlier articles of a typed link: that to which posting leads, and others."""
    try:
        link = clean_link(raw)
    except InvalidInput:
        return ""
    before, holder = articles.posted_before(link), repository().articles.find_by_link(link)
    others = before._replace(articles=tuple(one for one in before.articles if not holder or one.id != holder.id))
    if not (holder or others.articles):
        return ""
    return drawn("articles/known.html", {"holder": holder, "before": others}, request)
