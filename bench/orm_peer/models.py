"""Articles, groups, choices, saved articles and views as tables, with their indexes and constraints."""

from django.conf import settings
from django.db import models


class Group(models.Model):
    slug = models.CharField(max_length=60, unique=True)

    class Meta:
        app_label = "orm_peer"

    def __str__(self) -> str:
        return self.slug


class Article(models.Model):
    """An article with its counts, which votes and views keep. Times and score in Unix seconds."""

    title = models.CharField(max_length=300)
    link = models.TextField()
    poster = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    posted_at = models.FloatField()
    closes_at = models.FloatField()
    votes = models.IntegerField()
    opposes = models.IntegerField()
    score = models.FloatField()
    pv = models.IntegerField(default=0)
    uv = models.IntegerField(default=0)
    is_removed = models.BooleanField(default=False)
    groups = models.ManyToManyField(Group, related_name="articles")

    class Meta:
        app_label = "orm_peer"
        indexes = (models.Index(fields=["-score", "-id"], name="by_score", condition=models.Q(is_removed=False)),)

    def __str__(self) -> str:
        return self.title


class Vote(models.Model):
    """A member's choice: 1 or -1."""

    article = models.ForeignKey(Article, models.CASCADE)
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    direction = models.SmallIntegerField()

    class Meta:
        app_label = "orm_peer"
        constraints = (models.UniqueConstraint(fields=["member", "article"], name="one_choice"),)

    def __str__(self) -> str:
        return f"{self.member_id} {self.direction:+} on {self.article_id}"


class Saved(models.Model):
    article = models.ForeignKey(Article, models.CASCADE)
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")

    class Meta:
        app_label = "orm_peer"
        constraints = (models.UniqueConstraint(fields=["member", "article"], name="saved_once"),)

    def __str__(self) -> str:
        return f"{self.member_id} saved {self.article_id}"


class View(models.Model):
    """A visitor of an article, who counts once."""

    article = models.ForeignKey(Article, models.CASCADE)
    visitor = models.CharField(max_length=64)

    class Meta:
        app_label = "orm_peer"
        constraints = (models.UniqueConstraint(fields=["article", "visitor"], name="one_visit"),)

    def __str__(self) -> str:
        return f"{self.visitor} at {self.article_id}"
