"""The articles application."""

from django.apps import AppConfig


class ArticlesConfig(AppConfig):
    name = "articles"

    def ready(self) -> None:
        from articles import pending  # noqa: F401, PLC0415 - connects its receiver
