"""The Jinja2 environment of all pages except the admin site."""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.forms import BaseForm
from django.forms.boundfield import BoundField
from django.template import engines
from django.templatetags.static import static
from django.utils import timezone, translation
from django.utils.functional import lazy
from django.utils.safestring import SafeString
from django.utils.translation import get_language_info
from jinja2 import Environment, FileSystemBytecodeCache, StrictUndefined, pass_context, pass_eval_context
from jinja2.bccache import Bucket
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from markupsafe import Markup

from accounts.mail import is_dropped
from accounts.names import deleted_username
from accounts.web.sent_forms import page_of
from articles.configuration import colours
from articles.configuration.choices import chosen
from articles.formatting import values
from articles.formatting.kept import kept_piece
from articles.formatting.values import grouped
from articles.models import SiteText
from articles.site import count_sign_ups, site_text
from articles.text.links import home_of, host_of
from articles.views.lists.rows import draw_rows
from articles.views.owner import settings as site_settings
from articles.web import preferences
from articles.web.addresses import path_of
from articles.web.context import in_brief
from articles.web.extras import drawn, entries_of, links
from articles.web.groups import closed_mark, option_title
from articles.web.wiring import group_title, html_of_site_text
from moderation.statements import site_rules, title_of


@pass_context
def was_refused(context: Context) -> bool:
    """Return whether the page shows a form with errors.

    Checks `type`, because `isinstance` would evaluate lazy values, such as the form token, which sets a cookie.
    """
    return any(issubclass(type(value), BaseForm) and value.errors for value in context.get_all().values())


def wrong_fields(form: BaseForm) -> list[BoundField]:
    """Return the visible fields with errors, in order; none if the form was not sent."""
    return [bound for bound in form.visible_fields() if bound.errors]


def control(bound: BoundField) -> SafeString:
    """Return the field's widget. The first field with an error gets the focus."""
    wrong = wrong_fields(bound.form)
    if not wrong:
        return bound.as_widget()
    bound.field.widget.attrs.pop("autofocus", None)
    return bound.as_widget(attrs={"autofocus": True} if bound.name == wrong[0].name else None)


FILTERS: dict[str, Callable[..., Any]] = {
    "as_shown": values.as_shown,
    "age": values.age,
    "coded": values.coded,
    "decision": title_of,
    "from_now": values.from_now,
    "full_date": values.date_of,
    "in_brief": in_brief,
    "duration": values.duration,
    "figures": values.figures,
    "parameters": values.changed_parameters,
    "grouped": values.grouped,
    "significant": values.significant,
    "thousandths": values.thousandths,
    "home": home_of,
    "host": host_of,
    "listed": values.listed,
    "setting_name": site_settings.name_of,
    "setting_value": site_settings.value_of,
    "text_name": lambda name: dict(SiteText.Name.choices).get(name, name),
    "prose": values.prose,
}


def _static(path: str) -> str:
    """Return the address of a static file. Cached, except with DEBUG: it changes only with the file."""
    return static(path) if settings.DEBUG else _kept_static(path)


_kept_static = lru_cache(maxsize=128)(static)


def _languages() -> list[tuple[str, str, str]]:
    """Return each offered language's code, its name in that language, and its HTML language tag."""
    codes = chosen.SITE_LANGUAGES
    return [(code, get_language_info(code)["name_local"], preferences.tag(code)) for code in codes]


@pass_eval_context
def _ngettext(context: EvalContext, singular: str, plural: str, number: int, /, **facts: object) -> str:
    """Return the text for a number, with `num` formatted in the active language. −1 is singular, like 1."""
    if facts:
        return _counted(context.autoescape, singular, plural, abs(number)) % ({"num": grouped(number)} | facts)
    return _plainly_counted(translation.get_language(), context.autoescape, singular, plural, number)


def _counted(is_safe: bool, singular: str, plural: str, number: int) -> str:
    text = translation.ngettext(singular, plural, number)
    return Markup(text) if is_safe else text  # nosec B704 # noqa: S704 - the catalogue's own


@lru_cache(maxsize=4096)
def _plainly_counted(_language: str, is_safe: bool, singular: str, plural: str, number: int) -> str:
    return _counted(is_safe, singular, plural, abs(number)) % {"num": grouped(number)}


_MOST_READ = (
    "articles/",
    "comments/",
    "lists/",
    "votes/",
    "moderation/log_entry.html",
    "preferences/switches.html",
    "voting_rings/ring.html",
)
"""Templates, and folders of them, that most readers' pages are made of; with those outside of all folders."""


_COMPILED = re.compile(r"[0-9a-f]{16}-[0-9a-f]{40}")  # the name of a file: of the version and of the template


class _CompiledTemplates(FileSystemBytecodeCache):
    """Templates as Python's code, of this version. A disk that is full only costs time."""

    def __init__(self, folder: Path) -> None:
        digest = sha256(Path(__file__).read_bytes() + version("jinja2").encode()).hexdigest()[:16]
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            for path in folder.iterdir():
                if _COMPILED.fullmatch(path.name) and not path.name.startswith(digest):
                    path.unlink(missing_ok=True)
        super().__init__(str(folder), f"{digest}-%s")

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def load_most_read(folder: Path) -> None:
    """Load the templates of lists and of articles' pages. They are compiled once, into the folder."""
    env = engines["jinja2"].env  # type: ignore[attr-defined]
    env.bytecode_cache = _CompiledTemplates(folder)
    for name in env.list_templates(["html"]):
        if name.startswith(_MOST_READ) or "/" not in name:
            env.get_template(name)


def environment(**options: Any) -> Environment:
    """Return an environment with autoescaping (set by Django's backend), strict undefined names, and gettext."""
    options["undefined"] = StrictUndefined
    env = Environment(  # nosec B701 # noqa: S701 - autoescape is in the options
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True, **options
    )
    env.install_gettext_callables(  # type: ignore[attr-defined]
        translation.gettext,
        translation.ngettext,
        newstyle=True,
        pgettext=translation.pgettext,
        npgettext=translation.npgettext,
    )
    env.globals.update(
        ngettext=_ngettext,
        static=_static,
        url=path_of,
        when=values.time_of,
        site_name=lazy(lambda: chosen.SITE_NAME, str)(),
        chosen_settings=chosen,
        default_accent=colours.DEFAULT,
        current_language=preferences.current_code,
        language_tag=preferences.tag,
        languages=_languages,
        was_refused=was_refused,
        wrong_fields=wrong_fields,
        control=control,
        page_of=page_of,
        is_mail_dropped=is_dropped,
        draw_rows=draw_rows,
        drawn_by_extras=drawn,
        entries_of=entries_of,
        links_of=links,
        kept_piece=kept_piece,
        site_text=site_text,
        site_rules=site_rules,
        count_sign_ups=count_sign_ups,
        deleted_username=deleted_username,
        time_zone=timezone.get_current_timezone_name,
        html_of_site_text=html_of_site_text,
        group_title=group_title,
        closed_mark=closed_mark,
        option_title=option_title,
    )
    env.filters.update(FILTERS)
    return env
