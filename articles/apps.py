"""The articles application."""

from django.apps import AppConfig


class ArticlesConfig(AppConfig):
    name = "articles"

    def ready(self) -> None:
        from accounts import departures, labels  # noqa: PLC0415 - models are ready only now
        from articles import pending  # noqa: F401, PLC0415 - connects its receiver
        from articles.fields import clean_token_label  # noqa: PLC0415
        from articles.leaving import take_the_name_off  # noqa: PLC0415

        departures.also("articles", take_the_name_off)
        labels.clean_with(clean_token_label)
