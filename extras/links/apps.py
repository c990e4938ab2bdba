"""The app of titles of links, and what it adds to the site as it runs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra, FormPart

if TYPE_CHECKING:
    from django.http import HttpRequest

    from articles.web.forms.articles import PostForm


class Links(Extra):
    name = "extras.links"
    verbose_name = _("Titles of links")

    def extend_post_form(self, request: "HttpRequest", form: "PostForm") -> FormPart | None:
        from extras.links.forms import extended
        from extras.links.switch import is_on

        return extended(request, form) if is_on() else None

    def look_up(self, request: "HttpRequest", link: str) -> Mapping[str, str]:
        from extras.links.asking import look_up

        found = look_up(request, link)
        return {"title": found.title, "description": found.description}
