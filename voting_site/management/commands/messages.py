"""`manage.py messages`: every text of the site into the catalogues of its languages."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Gather the texts of the site into locale/, keep their translations, and compile them."
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            from voting_site import translations  # noqa: PLC0415
        except ImportError as missing:
            raise CommandError("This takes the development tools: use `make messages`.") from missing
        found = translations.merged(translations.gathered(), translations.kept())
        translations.po_path().parent.mkdir(parents=True, exist_ok=True)
        translations.po_path().write_text(translations.written(found), "utf-8")
        translations.mo_path().write_bytes(translations.compiled(found))
        missing_texts = translations.untranslated(found)
        self.stdout.write(f"{len(list(translations.texts(found)))} texts, {len(missing_texts)} without Chinese.")
        if missing_texts:
            for text in missing_texts:
                self.stdout.write(f"  {text}")
            self.stdout.write(f"Translate them in {translations.po_path()}, then run this again to compile them.")
