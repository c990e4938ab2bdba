"""Addresses of the articles' pages."""

from django.urls import path

from articles import converters  # noqa: F401 - makes "article_id" known
from articles.views import (
    article,
    groups,
    lab,
    lists,
    moderation,
    operation,
    posting,
    preferences,
    profile,
    search,
    statistics,
    status,
    voting,
)

app_name = "articles"
urlpatterns = [
    path("", lists.front, name="front"),
    path("newest/", lists.newest, name="newest"),
    path("hot/", lists.hot, name="hot"),
    path("top/", lists.top, name="top"),
    path("search/", search.search, name="search"),
    path("groups/", groups.index, name="groups"),
    path("groups/<str:slug>/", lists.group, name="group"),
    path("post/", posting.post, name="post"),
    path("articles/<article_id:article_id>/", article.detail, name="article"),
    path("articles/<article_id:article_id>/vote/", voting.cast_vote, name="vote"),
    path("articles/<article_id:article_id>/edit/", posting.edit, name="edit"),
    path("articles/<article_id:article_id>/groups/", moderation.assign_groups, name="assign_groups"),
    path("articles/<article_id:article_id>/remove/", moderation.remove, name="remove"),
    path("articles/<article_id:article_id>/restore/", moderation.restore, name="restore"),
    path("articles/<article_id:article_id>/views/", statistics.article, name="article_views"),
    path("moderation/", moderation.log, name="log"),
    path("moderation/views/", statistics.site, name="site_views"),
    path("moderation/groups/", groups.create, name="create_group"),
    path("moderation/groups/<str:slug>/", groups.manage, name="manage_group"),
    path("lab/", lab.lab, name="lab"),
    path("lab/apply/", lab.apply, name="apply_lab"),
    path("lab/rollback/", lab.rollback, name="roll_back"),
    path("preferences/", preferences.save, name="preferences"),
    path("users/<str:name>/", profile.profile, name="profile"),
    path("operation/", operation.operation, name="operation"),
    path("metrics", operation.scrape, name="metrics"),
    path("healthz", status.alive, name="healthz"),
    path("readyz", status.ready, name="readyz"),
]
