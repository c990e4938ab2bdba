"""The site's own texts and blocked hosts in Django's admin site."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from accounts.admin import StrictMixin
from articles import site
from articles.forms.fields import CleanedField
from articles.models import BlockedHost, SiteText
from articles.text.lines import clean_reason, clean_text
from articles.text.links import clean_host
from articles.wiring import html_of_site_text, retract


class _KeptMixin(StrictMixin):
    """Rows that each process caches. Other processes read changes a little later."""

    @staticmethod
    def changed() -> None:
        """Make this process read the rows again, and retract copies of pages that show the former ones."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        transaction.on_commit(self.changed)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        transaction.on_commit(self.changed)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        super().delete_queryset(request, queryset)
        transaction.on_commit(self.changed)


class SiteTextForm(forms.ModelForm):  # type: ignore[type-arg]
    """A text in Markdown, with the rules for the text of an article."""

    language = forms.ChoiceField(label=_("language"), choices=settings.LANGUAGES)
    text = CleanedField(clean_text, label=_("text, in Markdown"), widget=forms.Textarea({"rows": 20, "cols": 90}))

    class Meta:
        model = SiteText
        fields = ("name", "language", "text")


@admin.register(SiteText)
class SiteTextAdmin(_KeptMixin):
    """The site's own texts. “Save and continue editing” shows how the text looks."""

    form = SiteTextForm
    fields = ("name", "language", "text", "preview")
    readonly_fields = ("preview",)
    list_display = ("name", "language")
    list_filter = ("name", "language")

    @admin.display(description=_("As saved"))
    def preview(self, text: SiteText) -> SafeString:
        return mark_safe(html_of_site_text(text.text))  # nosec B308 B703 # noqa: S308 - cleaned by articles.text.markdown

    @staticmethod
    def changed() -> None:
        site.forget_texts()
        retract(None)


class BlockedHostForm(forms.ModelForm):  # type: ignore[type-arg]
    """A host, or any link to it, and the reason."""

    host = CleanedField(clean_host, label=_("host"), help_text=_("For example, example.org."))
    reason = CleanedField(clean_reason, label=_("Reason"), help_text=_("Members read it when they post a link."))

    class Meta:
        model = BlockedHost
        fields = ("host", "reason")


@admin.register(BlockedHost)
class BlockedHostAdmin(_KeptMixin):
    """Hosts whose links cannot be posted. Posted articles stay."""

    form = BlockedHostForm
    list_display = ("host", "reason")
    search_fields = ("host", "reason")

    @staticmethod
    def changed() -> None:
        site.forget_hosts()
