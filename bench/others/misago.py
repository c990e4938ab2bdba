"""Misago, a forum, with the settings of the project in its package. Likes are given to first posts of threads."""

from devproject.settings import *  # noqa: F403

from bench.others import *  # noqa: F403

INSTALLED_APPS = [name for name in INSTALLED_APPS if name != "debug_toolbar"]
MIDDLEWARE = [name for name in MIDDLEWARE if not name.startswith("debug_toolbar")]
STATIC_ROOT = os.environ["PEER_FILES"]


def member(name):
    from misago.faker.users import get_fake_avatars
    from misago.users.models import User

    email = f"{name}@example.com"
    return User.objects.create_user(name, email, "password", avatars=get_fake_avatars(email))


def add(entries):
    from django.utils import timezone
    from misago.categories.models import Category
    from misago.core.utils import slugify
    from misago.threads.checksums import make_post_checksum
    from misago.threads.models import Post, Thread

    now, category = timezone.now(), Category.objects.get(slug="first-category")
    threads = Thread.objects.bulk_create(
        Thread(
            category=category,
            title=title,
            slug=slugify(title),
            started_on=now,
            last_post_on=now,
            starter=poster,
            starter_name=poster.username,
            starter_slug=poster.slug,
            last_poster=poster,
            last_poster_name=poster.username,
            last_poster_slug=poster.slug,
        )
        for title, poster in entries
    )
    posts = Post.objects.bulk_create(
        Post(
            category=category,
            thread=thread,
            poster=thread.starter,
            poster_name=thread.starter_name,
            original=thread.title,
            parsed=f"<p>{thread.title}</p>",
            posted_on=now,
            updated_on=now,
        )
        for thread in threads
    )
    for thread, post in zip(threads, posts, strict=True):
        post.checksum = make_post_checksum(post)
        thread.first_post = thread.last_post = post
    Post.objects.bulk_update(posts, ["checksum"], 1000)
    Thread.objects.bulk_update(threads, ["first_post", "last_post"], 1000)
    category.synchronize()
    category.save()
    return [post.pk for post in posts]
