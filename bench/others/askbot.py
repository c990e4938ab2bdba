"""Askbot, questions and answers, with the settings of `askbot-setup`. Votes are given to questions."""

import project.settings
from project.settings import *  # noqa: F403

from bench.others import *  # noqa: F403

CACHES = project.settings.CACHES  # in the process: for each page, it reads hundreds of settings from the cache

ROOT_URLCONF = "project.urls"
RATELIMIT_ENABLE = False
CSRF_COOKIE_NAME = "csrftoken"


def member(name):
    from askbot.models import User

    user = User.objects.create_user(name, f"{name}@example.com", "password")
    user.reputation = 1000
    user.save()
    return user


def add(entries):
    """Post one question, which takes a third of a second, and copy the rows that it has for all others."""
    from askbot.conf import settings as dynamic
    from askbot.models import Post, Tag, Thread
    from askbot.models.post import PostToGroup
    from askbot.models.question import ThreadToGroup

    dynamic.update("MAX_VOTES_PER_USER_PER_DAY", 1_000_000)
    (title, poster), *rest = entries
    first = poster.post_question(title=title, body_text=title, tags="articles")
    threads = _copies(first.thread, [{"title": title, "last_activity_by_id": poster.pk} for title, poster in rest])
    texts = [{"text": title, "author_id": poster.pk} for title, poster in rest]
    html = [{"html": f"<p>{title}</p>", "summary": f"<p>{title}</p>"} for title, _ in rest]
    of_threads = [{"thread_id": thread.pk} for thread in threads]
    posts = _copies(first, [{**a, **b, **c} for a, b, c in zip(texts, html, of_threads, strict=True)])
    of_posts = [{"post_id": post.pk} for post in posts]
    revisions = [{**a, **b, "title": a["text"]} for a, b in zip(texts, of_posts, strict=True)]
    for post, revision in zip(posts, _copies(first.current_revision, revisions), strict=True):
        post.current_revision = revision
    Post.objects.bulk_update(posts, ["current_revision"], 1000)
    for links in (ThreadToGroup, Thread.tags.through):
        for link in links.objects.all():
            _copies(link, of_threads)
    for link in PostToGroup.objects.all():
        _copies(link, of_posts)
    Tag.objects.update(used_count=len(entries))
    return [first.pk, *(post.pk for post in posts)]


def _copies(of, changes):
    """Add copies of a row, each with other values of some fields."""
    own = {
        field.attname: getattr(of, field.attname) for field in of._meta.concrete_fields if not field.primary_key
    }
    return type(of)._base_manager.bulk_create(type(of)(**own | change) for change in changes)
