"""Responses to forms sent by browsers (a redirect) or by scripts on the page (JSON)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from accounts.web import sent_forms
from accounts.web.form_pages import ButtonText, RequestText, form_action, prefers_json
from accounts.web.login_intent import local_path
from accounts.web.sent_forms import RESUBMISSION_WINDOW
from articles.domain.errors import ActionRefused, ArticleNotFound, ArticleRemoved
from articles.domain.moderation_log import Action as ModerationAction, LogEntry
from articles.repository import Repository
from articles.text.refusals import action_sentence
from articles.web.identity import actor


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a form's action: `answer` for a script, `message` for the page that a browser returns to."""

    answer: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    finish: Callable[[HttpResponse], None] | None = None  # completes either response, for example with cookies
    tags: str = ""  # those of the message


class NotDone(Exception):
    """The action was refused; the text is a sentence that says why, in the reader's language."""


Action = Callable[..., Done | HttpResponse]


def form_or_script(*, page: RequestText, button: ButtonText) -> Callable[[Action], Callable[..., HttpResponse]]:
    """Turn the action of a form on the page at `page(request, …)` into a view.

    A browser is redirected to that page, with a message if the action was refused. A script that prefers JSON gets
    200, or `error` with 404 for a missing or removed article and 409 for any other refusal. A response that the
    action returns, such as a redirect to the login, is passed on. `button(request, …)` labels the button that
    sends the form again; see `form_action`. Readers without an account need no token.
    """

    def decorate(action: Action) -> Callable[..., HttpResponse]:
        @wraps(action)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            is_script = prefers_json(request)
            try:
                result = action(request, *args, **kwargs)
            except (ArticleNotFound, ArticleRemoved) as gone:
                if not is_script:
                    raise
                return JsonResponse({"error": action_sentence(gone)}, status=404)
            except (ActionRefused, NotDone) as refusal:
                sentence = str(refusal) if isinstance(refusal, NotDone) else action_sentence(refusal)
                if is_script:
                    return JsonResponse({"error": sentence}, status=409)
                messages.error(request, sentence)
                return HttpResponseRedirect(page(request, *args, **kwargs))
            if isinstance(result, HttpResponse):
                return result
            if not is_script and result.message:
                messages.success(request, result.message, extra_tags=result.tags)
            response = (
                JsonResponse(result.answer) if is_script else HttpResponseRedirect(page(request, *args, **kwargs))
            )
            if result.finish:
                result.finish(response)
            return response

        return form_action(page=page, button=button, for_readers=True)(view)

    return decorate


@contextmanager
def telling(request: HttpRequest) -> Iterator[None]:
    """Show a message if what is done inside is refused."""
    try:
        yield
    except ActionRefused as refused:
        messages.error(request, action_sentence(refused))


def way_back(request: HttpRequest) -> str:
    """Return the address of the page that the form was on; "" if the form does not name a page of this site."""
    return local_path(sent_forms.sent(request).get("next", ""))


def login_first(request: HttpRequest, sentence: str, **intent: Any) -> HttpResponse:
    """Send a reader without an account to the login page with the intent; a script gets its address and 401."""
    address = f"{reverse('accounts:login')}?{urlencode(intent)}"
    if prefers_json(request):
        return JsonResponse({"error": sentence, "address": address}, status=401)
    return HttpResponseRedirect(address)


def just_done(repository: Repository, request: HttpRequest, action: ModerationAction) -> list[LogEntry]:
    """Return this member's log entries of this action within `RESUBMISSION_WINDOW`. Reads the log's first page.

    A moderation form that arrives twice is a success, not an error.
    """
    oldest, name = repository.store.now() - RESUBMISSION_WINDOW.total_seconds(), actor(request).name
    entries = repository.moderation_log.get_page().entries
    return [
        entry for entry in entries if entry.at >= oldest and (entry.action, entry.actor_name) == (action, name)
    ]
