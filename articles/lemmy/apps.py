"""The app of Lemmy's API."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from articles.domain.other_apis import OtherApi, register
from articles.lemmy.words import ROOT, body_of

_NODEINFO = {"nodeinfo/2.0": "2.0", "nodeinfo/2.0.json": "2.0", "nodeinfo/2.1.json": "2.1", "version": "2.1"}

LEMMY_VERSION = "0.19.9"
"""The version whose API the site answers: apps decide by it what to ask for."""


class LemmyConfig(AppConfig):
    """Lemmy's API, and addresses that apps build as Lemmy has them."""

    name = "articles.lemmy"
    addresses = {"api/v3/": "articles.lemmy.urls", "": "articles.lemmy.addresses"}

    def ready(self) -> None:
        from articles.configuration.choices import chosen  # noqa: PLC0415 - models are ready only now
        from articles.lemmy.tokens import as_jwt  # noqa: PLC0415 - the same

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
