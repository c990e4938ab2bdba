"""`manage.py data_model`: write the tables of docs/data-model.md, and deploy/store.acl, from the key table."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from articles.repository import data_model_page, store_acl


class Command(BaseCommand):
    help = (
        "Write what follows from the keys and the scripts: the tables of docs/data-model.md, and deploy/store.acl."
    )
    requires_system_checks = []

    def handle(self, *_: Any, **__: Any) -> None:
        path = settings.BASE_DIR / "docs" / "data-model.md"
        path.write_text(data_model_page(path.read_text("utf-8")), "utf-8")
        self.stdout.write(f"{path} written.")
        acl = settings.BASE_DIR / "deploy" / "store.acl"
        acl.write_text(store_acl(), "utf-8")
        self.stdout.write(f"{acl} written.")
