"""The site's own texts: administrators write each in every language that the site offers."""

from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _, pgettext_lazy

from accounts.web.form_pages import private_form, private_page, show_form, show_next, with_address
from articles import site
from articles.configuration.choices import chosen
from articles.domain.moderation_log import Action
from articles.models import SiteText
from articles.text.lines import TEXT_LIMIT, clean_text
from articles.views.owner.administrator import administrators_only
from articles.web.forms.fields import CleanedField, PreviewedForm, TextInput
from articles.web.identity import actor
from articles.web.wiring import html_of_site_text, repository, retract


class TextForm(PreviewedForm):
    """One of the site's texts, in Markdown. An empty one is removed."""

    text = CleanedField(
        clean_text, label=pgettext_lazy("site", "Text"), required=False, widget=TextInput(TEXT_LIMIT, {"rows": 16})
    )

    def __init__(self, data: Any, current: str) -> None:
        super().__init__(data, initial={"text": current})
        self.current_text = current
        del self.fields["text"].widget.attrs["data-preview"]  # its links to pages of the site are drawn here only


@private_page(administrators_only)
def index(request: HttpRequest) -> HttpResponse:
    written = {*SiteText.objects.exclude(text="").values_list("name", "language")}
    texts = [
        (name, label, [(code, own, (name, code) in written) for code, own in chosen.languages])
        for name, label in SiteText.Name.choices
    ]
    return render(request, "owner/texts.html", {"texts": texts})


@private_form(administrators_only)
@with_address
def edit(request: HttpRequest, name: str, language: str) -> HttpResponse:
    """Write a text. Raises Http404 for another name, or a language that the site does not offer."""
    labels, languages = dict(SiteText.Name.choices), dict(chosen.languages)
    if name not in labels or language not in languages:
        raise Http404(name)
    row = SiteText.objects.filter(name=name, language=language).first()
    current = row.text if row else _default(name, language)
    form = TextForm(request.POST or None, current)
    preview = None
    if request.method == "POST" and form.is_valid():
        text = form.cleaned_data["text"]
        if "preview" not in request.POST:
            without = None if name == SiteText.Name.WELCOME else ""  # an empty welcome replaces the default
            if text != (row.text if row else without):
                _save(request, name, language, text)
            return show_next(request, _("Saved. All pages follow within seconds."), "articles:owner_texts")
        preview = html_of_site_text(text)
    context = {"preview": preview, "label": labels[name], "language": languages[language]}
    return show_form(request, "owner/text.html", form, **context)


def _default(name: str, language: str) -> str:
    """Return what pages show until the text is saved in any language: only a welcome has a default."""
    if name != SiteText.Name.WELCOME or SiteText.objects.filter(name=name).exists():
        return ""
    with translation.override(language):
        return site.default_welcome().text


def _save(request: HttpRequest, name: str, language: str, text: str) -> None:
    """Save a text, and log that it was changed. Raises StoreError; then nothing is saved."""
    with transaction.atomic():
        if text or name == SiteText.Name.WELCOME:
            SiteText.objects.update_or_create(name=name, language=language, defaults={"text": text})
        else:
            SiteText.objects.filter(name=name, language=language).delete()
        details = {"text": "changed" if text else "removed", "language": language}
        repository().moderation_log.note(Action.CHANGE_SITE_TEXT, actor(request), name, "", details)
        transaction.on_commit(site.forget_texts)
        transaction.on_commit(lambda: retract(None))
