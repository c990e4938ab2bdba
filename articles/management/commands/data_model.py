"""`manage.py data_model`: write the tables of docs/data-model.md from the key table."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from articles.repository import data_model_page


class Command(BaseCommand):
    help = "Write the tables of docs/data-model.md from the table of keys and the headers of the scripts."
    requires_system_checks = []

    def handle(self, *_: Any, **__: Any) -> None:
        path = settings.BASE_DIR / "docs" / "data-model.md"
        path.write_text(data_model_page(path.read_text("utf-8")), "utf-8")
        self.stdout.write(f"{path} written.")
