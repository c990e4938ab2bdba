"""Remove the demo content from a site that has nothing else yet."""

from django.db import transaction
from django.db.models import SET_NULL, ManyToOneRel

from accounts.account_deletion import delete_without_trace
from accounts.models import NameLook, User
from articles.demo.seeding import MEMBER, MODERATOR, content_articles, content_members, content_texts, logins_file
from articles.models import SiteText
from articles.repository import ImportRunning, Repository

__all__ = ["DemoNotAlone", "ImportRunning", "remove"]


class DemoNotAlone(Exception):
    """The site has other articles than the demo's. The message says how many."""


def remove(repository: Repository) -> tuple[int, int]:
    """Delete the demo's articles, groups and accounts; return how many articles and accounts these were.

    Ids are not used again. Other accounts stay, without their votes on the demo's articles. Can be interrupted and
    repeated. Raises DemoNotAlone, before anything is changed, ImportRunning and StoreError.
    """
    with repository.imports.lock():
        known, articles, others = content_articles(), 0, 0
        for article in repository.imports.iterate():
            if (article.link or article.title) in known:
                articles += 1
            else:
                others += 1
        if others:
            raise DemoNotAlone(f"{others:,} articles are not the demo's.")
        repository.clear()
    for text in content_texts():  # what an administrator has written instead stays
        SiteText.objects.filter(**text).delete()
    accounts = _delete_accounts()
    logins_file().unlink(missing_ok=True)
    return articles, accounts


@transaction.atomic
def _delete_accounts() -> int:
    """Delete the demo's accounts, and what refers to them: nothing else needs their names."""
    imported = User.objects.filter(username__in=content_members(), imported=True)
    accounts = imported | User.objects.filter(username__in=(MEMBER, MODERATOR))
    ids = list(accounts.values_list("pk", flat=True))
    for relation in User._meta.get_fields(include_hidden=True):
        if isinstance(
            relation, ManyToOneRel
        ):  # one-to-one relations, and those of groups and permissions, included
            rows = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": ids})
            if relation.on_delete is SET_NULL:
                rows.update(**{relation.field.name: None})
            else:
                delete_without_trace(rows)
    delete_without_trace(NameLook.objects.filter(user_id__in=ids))
    delete_without_trace(User._base_manager.filter(pk__in=ids))
    return len(ids)
