"""The app of Lemmy's API."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from articles.domain.other_apis import OtherApi, register
from articles.web.extras import Extra
from extras.lemmy.words import ROOT, as_jwt, body_of

_NODEINFO = {"nodeinfo/2.0": "2.0", "nodeinfo/2.0.json": "2.0", "nodeinfo/2.1.json": "2.1", "version": "2.1"}

LEMMY_VERSION = "0.19.9"
"""The version whose API the site answers: apps decide by it what to ask for."""


class Lemmy(Extra):
    """Lemmy's API, and addresses that apps build as Lemmy has them."""

    name = "extras.lemmy"
    verbose_name = _("Apps for Lemmy")

    def addresses(self) -> Mapping[str, str]:
        return {"api/v3/": "extras.lemmy.urls", "": "extras.lemmy.addresses"}

    def ready(self) -> None:
        from articles.configuration.choices import chosen

        register(
            OtherApi(
                root=ROOT,
                is_on=lambda: bool(chosen.LEMMY_API),
                body_of=body_of,
                software=("lemmy", LEMMY_VERSION),
                nodeinfo=_NODEINFO,
                password_views=("lemmy:login",),
                token_label=_("As a JWT, for apps made for Lemmy"),
                token_in_its_form=as_jwt,
            )
        )
