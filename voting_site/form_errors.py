"""What templates ask of forms that were refused."""

from django.forms import BaseForm
from django.forms.boundfield import BoundField
from django.utils.safestring import SafeString
from jinja2 import pass_context
from jinja2.runtime import Context


@pass_context
def was_refused(context: Context) -> bool:
    """Whether the page shows a form with errors."""
    # By type: isinstance would open what is lazy, and so set a reader's cookie for a token nobody asked for.
    values = context.get_all().values()
    return any(issubclass(type(value), BaseForm) and value.errors for value in values)


def wrong_fields(form: BaseForm) -> list[BoundField]:
    """The visible fields with errors, in their order; none of a form that was not sent."""
    return [bound for bound in form.visible_fields() if bound.errors]


def control(bound: BoundField) -> SafeString:
    """The field's control. Of a form that was refused, the first field with an error gets the focus."""
    wrong = wrong_fields(bound.form)
    if not wrong:
        return bound.as_widget()
    bound.field.widget.attrs.pop("autofocus", None)
    return bound.as_widget(attrs={"autofocus": True} if bound.name == wrong[0].name else None)
