"""Articles, groups and choices as tables, with their indexes and constraints."""

from django.conf import settings
from django.db import models


class Group(models.Model):
    slug = models.CharField(max_length=60, unique=True)

    class Meta:
        app_label = "orm_peer"

    def __str__(self) -> str:
        return self.slug


class Article(models.Model):
    """An article with its counts, which votes keep. Times and score in Unix seconds."""

    title = models.CharField(max_length=300)
    link = models.TextField()
    poster = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    posted_at = models.FloatField()
    closes_at = models.FloatField()
    votes = models.IntegerField()
    opposes = models.IntegerField()
    score = models.FloatField()
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
