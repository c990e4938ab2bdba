"""The articles app."""

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class ArticlesConfig(AppConfig):
    """Articles, votes, lists and groups."""

    name = "articles"

    def ready(self) -> None:
        from accounts import account_deletion, member_ids, names  # noqa: PLC0415 - models are ready only now
        from articles.operation import extras  # noqa: PLC0415
        from articles.web import (  # noqa: F401, PLC0415 - connect their receivers
            account_ids,
            ballots,
            limits,
            votes,
        )
        from articles.web.forms.fields import clean_token_label  # noqa: PLC0415

        account_deletion.register_step("articles", account_ids.anonymise)
        account_deletion.register_step("ballots", ballots.destroy_key)
        member_ids.reserve, member_ids.note = account_ids.reserve, account_ids.note
        names.cleaned_token_name = clean_token_label
        account_deletion.deletion_begun.connect(extras.delete_rows_of)
        for receiver in (extras.remember, extras.delete_stale):
            post_migrate.connect(receiver, sender=self)
        checks.register(lambda **_: [checks.Warning(text, id="extras.W001") for text in extras.sentences()])
