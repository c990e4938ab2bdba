"""Spirit, a forum, with the settings of `spirit startproject`. Likes are given to the first comment of a topic."""

from project.project.settings.prod import *  # noqa: F403

from bench.others import *  # noqa: F403

ROOT_URLCONF = "project.project.urls"
CACHES["st_rate_limit"] = CACHES["default"]
ST_SITE_URL = "http://localhost/"


def member(name):
    from django.contrib.auth import get_user_model

    return get_user_model().objects.create_user(name, f"{name}@example.com", "password")


def add(entries):
    from spirit.category.models import Category
    from spirit.comment.models import Comment
    from spirit.topic.models import Topic

    category = Category.objects.create(title="Articles")
    topics = Topic.objects.bulk_create(
        Topic(user=poster, category=category, title=title, comment_count=1) for title, poster in entries
    )
    comments = Comment.objects.bulk_create(
        Comment(user=topic.user, topic=topic, comment=topic.title, comment_html=f"<p>{topic.title}</p>")
        for topic in topics
    )
    return [comment.pk for comment in comments]
