"""Template helpers for forms with errors."""

from django.forms import BaseForm
from django.forms.boundfield import BoundField
from django.utils.safestring import SafeString
from jinja2 import pass_context
from jinja2.runtime import Context


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
