"""The six steps of an owner's first hour, and what is done of them; shown only to administrators."""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext, pgettext
from markupsafe import Markup

from accounts.mail import is_sent
from articles.backup import folders
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.domain.errors import StoreError
from articles.formatting.kept import drawn
from articles.formatting.values import age, duration, grouped
from articles.site import written_texts
from articles.web.wiring import repository

DISMISSED, MAIL_TESTED = "steps dismissed", "step mail"
"""Notes that the list is not shown on the front page any more, and when a mail was accepted, in Unix seconds."""


class Step(NamedTuple):
    """A step, with the address of the page that does it, and its state in words."""

    title: str
    state: str
    address: str
    is_done: bool


def steps() -> Iterator[Step]:
    """Yield the steps. One round trip."""
    named = settings.BROWSER_SETTINGS["SITE_NAME"].default != chosen.SITE_NAME
    yield Step(_("Name and look"), chosen.SITE_NAME, reverse("articles:owner_look"), named or _is_noted("look"))
    modes = {
        "open": _("Everyone can sign up."),
        "approval": _("A moderator approves each account."),
        "invitation": _("Members invite others."),
        "closed": _("Only administrators add members."),
    }
    has_chosen = _is_noted("joining") or "SIGN_UP" in settings.FIXED_SETTINGS
    yield Step(_("Who can sign up"), modes[chosen.SIGN_UP], reverse("articles:owner_joining"), has_chosen)
    groups = 0
    with suppress(StoreError):
        groups = len(repository().groups.get_titles())
    page = reverse("articles:groups" if groups else "articles:create_group")
    counted = ngettext("%(num)s group", "%(num)s groups", groups) % {"num": grouped(groups)}
    yield Step(_("Groups"), counted if groups else _("None yet."), page, groups > 0)
    missing = [name for name in ("welcome", "rules") if name not in written_texts()]
    texts = {2: _("Not written yet."), 1: _("One of the two is written."), 0: _("Both are written.")}
    yield Step(_("Welcome and rules"), texts[len(missing)], reverse("articles:owner_texts"), not missing)
    has_mail = is_sent()
    tested = choices.note_of(MAIL_TESTED) if has_mail else ""
    accepted = _("A test email was accepted %(ago)s.")
    untested = _("Not tested yet.") if has_mail else _("Not set up.")
    state = accepted % {"ago": age(float(tested))} if tested else untested
    yield Step(pgettext("administration", "Email"), state, reverse("articles:owner_mail"), bool(tested))
    last = last_backup()
    state = _("None yet.") if last is None else _("The last one is %(age)s old.") % {"age": duration(last)}
    state = state if folders.chosen_folder() else _("Not set up.")
    yield Step(_("Backups"), state, reverse("articles:owner_backup"), last is not None)


def _is_noted(step: str) -> bool:
    return bool(choices.note_of(f"step {step}"))


def last_backup() -> float | None:
    """Return the age in seconds of the last backup that housekeeping made; None without any."""
    return folders.age_of_newest(folder) if (folder := folders.chosen_folder()) else None


def on_front_page(request: HttpRequest) -> Markup:
    """Draw the steps for an administrator until all are done, or dismissed."""
    if choices.note_of(DISMISSED):
        return Markup()
    known = list(steps())
    is_done = all(step.is_done for step in known)
    return Markup() if is_done else drawn("owner/steps.html", {"steps": known}, request)
