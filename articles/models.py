"""Models of articles: the moderators' permissions, archived view counters, which store is the accounts', and what
administrators write: the site's own texts, settings, and blocked hosts.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ArticlePermissions(models.Model):  # noqa: DJ008 - it has no rows
    """Carries the moderators' permissions; it has no table."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            ("assign_groups", _("Can assign articles to groups, and create, rename and merge groups")),
            ("edit_any_article", _("Can edit every article")),
            ("remove_articles", _("Can remove and restore articles")),
            ("tune_ranking", _("Can tune the ranking")),
            ("see_operation", _("Can see the operator's page")),
            ("ban_members", _("Can ban members from posting and voting, and answer their appeals")),
            ("see_views", _("Can see who views what: counted, unique and suspect views")),
            ("redact", _("Can redact texts in the moderation log and in what is removed")),
        ]


class ArchivedViews(models.Model):
    """View counters of an article without recent views, archived out of the store.

    A row is valid only while the article in the store is marked as archived: see
    `articles.web.readership.archive`.
    """

    article_id = models.BigIntegerField(primary_key=True)
    pv = models.PositiveBigIntegerField(help_text="Page views that count.")
    uv = models.PositiveBigIntegerField(help_text="Unique visitors, estimated.")
    sketch = models.BinaryField(help_text="HyperLogLog of the visitors, as the store keeps it.")
    suspects = models.JSONField(default=dict, help_text="Suspect views by reason.")
    viewed_at = models.FloatField(help_text="When the last view counted, in Unix seconds.")
    archived_at = models.DateTimeField()

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return f"views of article {self.article_id}"


class KnownStore(models.Model):
    """The store that belongs to these accounts; one row: see `articles.known_store`."""

    id = models.PositiveSmallIntegerField(primary_key=True)
    site = models.CharField(max_length=36, help_text="UUID that the store has of the site.")

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return self.site


class SiteText(models.Model):
    """One of the site's own texts in one language: see `articles.site`."""

    class Name(models.TextChoices):
        WELCOME = "welcome", _("Welcome, on the front page for readers without an account")
        RULES = "rules", _("Rules, on their own page")
        ABOUT = "about", _("About this site, on “How it works”")
        PRIVACY = "privacy", _("Privacy, on “How it works”")
        IMPRINT = "imprint", _("Imprint, on “How it works”")
        CONTACT = "contact", _("Contact points for authorities and for users, on “How it works”")

    name = models.CharField(_("text"), max_length=20, choices=Name.choices)
    language = models.CharField(_("language"), max_length=10)
    text = models.TextField(_("text, in Markdown"))

    class Meta:
        verbose_name = _("site text")
        verbose_name_plural = _("site texts")
        ordering = ["name", "language"]
        constraints = [models.UniqueConstraint(fields=["name", "language"], name="one_text_per_language")]

    def __str__(self) -> str:
        return f"{self.name} ({self.language})"


class SiteSetting(models.Model):
    """What the owner chose in the browser, by the name of the variable, and what `owner` remembers beside it."""

    name = models.CharField(max_length=60, primary_key=True)
    text = models.TextField()

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return f"{self.name}={self.text}"


class ExtraRecord(models.Model):
    """What an extra has, for the time after its folder is deleted: see `articles.operation.extras`."""

    name = models.CharField(max_length=40, primary_key=True)
    tables = models.JSONField(default=list)  # each after those that it refers to
    settings = models.JSONField(default=list)
    keys = models.JSONField(default=list)  # kinds of keys of the store
    article_fields = models.JSONField(default=list)

    class Meta:
        default_permissions = ()  # not edited by hand

    def __str__(self) -> str:
        return self.name


class BlockedHost(models.Model):
    """A host whose links, and those of its subdomains, cannot be posted: see `articles.site`."""

    host = models.CharField(_("host"), max_length=253, unique=True, help_text=_("For example, example.org."))
    reason = models.CharField(_("reason"), max_length=500, help_text=_("Members read it when they post a link."))

    class Meta:
        verbose_name = _("blocked host")
        verbose_name_plural = _("blocked hosts")
        ordering = ["host"]

    def __str__(self) -> str:
        return self.host
