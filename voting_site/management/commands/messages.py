"""`manage.py messages`: update the translation catalogue from the site's sources."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Extract the site's texts into locale/, keep existing translations, and compile them."
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            from voting_site import translations  # noqa: PLC0415
        except ImportError as missing:
            raise CommandError("The development tools are not installed: use `make messages`.") from missing
        catalogue = translations.merged(translations.extracted(), translations.current())
        translations.po_path().parent.mkdir(parents=True, exist_ok=True)
        translations.po_path().write_text(translations.written(catalogue), "utf-8")
        translations.mo_path().write_bytes(translations.compiled(catalogue))
        missing_texts = translations.untranslated(catalogue)
        count = len(list(translations.texts(catalogue)))
        self.stdout.write(f"{count} texts, {len(missing_texts)} without Chinese.")
        if missing_texts:
            for text in missing_texts:
                self.stdout.write(f"  {text}")
            self.stdout.write(f"Translate them in {translations.po_path()}, then run this command again.")
