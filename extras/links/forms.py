"""What the form by which articles are posted gets: its script, a button, and what the page of the link says."""

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from articles.formatting.kept import drawn
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.web.extras import FormPart
from articles.web.forms.articles import PostForm
from extras.links.asking import LinkInfo, look_up

_HEAD = '<link rel="stylesheet" href="{}"><script src="{}" defer></script>'
_BUTTON = (
    '<noscript><button class="second" type="submit" name="fetch" value="1" formnovalidate>{}</button></noscript>'
)
_BELOW = '<div class="link-info" role="status">{}</div>'


def extended(request: HttpRequest, form: PostForm) -> FormPart:
    """Let the script know where to ask, and look up the link of a form that was sent by the button."""
    form.fields["link"].widget.attrs["data-titles"] = reverse("articles:link_info")
    is_asked = request.method == "POST" and "fetch" in request.POST
    found = _found_for(request, form) if is_asked else None
    return FormPart(
        format_html(_HEAD, static("css/links.css"), static("js/links.js")),
        format_html(_BUTTON, _("Fetch title")),
        format_html(_BELOW, drawn("links/found.html", {"found": found}, request) if found else ""),
        is_asked,
    )


def _found_for(request: HttpRequest, form: PostForm) -> LinkInfo | None:
    """Return what the form's link brings along, and fill in an empty title.

    None, with an error in the form, for a link that cannot be posted.
    """
    for name in [name for name in form.errors if name != "link"]:
        del form.errors[name]
    if not form.errors and not form.cleaned_data["link"]:
        form.add_error("link", input_sentence(InvalidInput("link-empty")))
    if form.errors:
        return None
    found = look_up(request, form.cleaned_data["link"])
    if found.title and not form["title"].data.strip():
        filled = request.POST.copy()
        filled["title"] = found.title
        form.data = filled
    return found
