"""The site as Lemmy describes itself: its name and rules, and what an app has to know of its member."""

from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.http import HttpRequest

from accounts.models import User
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.configuration.recent import Recent
from articles.domain.errors import StoreError
from articles.domain.lists import Order, without_groups
from articles.site import site_text
from articles.text.markdown import plain
from articles.web import reading
from articles.web.wiring import group_titles, html_of_site_text, repository
from extras.lemmy.apps import LEMMY_VERSION
from extras.lemmy.members import moderated_by
from extras.lemmy.operations import Json, operation
from extras.lemmy.shapes import Shapes, absolute_links, beginning, facts, when

_SORT, _LISTING = "Hot", "All"
_OFF = (
    "enable_nsfw", "require_email_verification", "hide_modlog_mod_names", "application_email_admins",
    "federation_enabled", "federation_signed_fetch", "captcha_enabled", "reports_email_admins",
)  # fmt: skip
_LIMITED = ("message", "post", "register", "image", "comment", "search", "import_user_settings")
_RATES = dict.fromkeys((f"{name}{span}" for name in _LIMITED for span in ("", "_per_second")), 0)
"""Apps show no limits: docs/limits.md has the site's."""

_LANGUAGES = [{"id": 0, "code": "und", "name": "Undetermined"}]


class _Counts(NamedTuple):
    members: int
    articles: int


def _count() -> _Counts:
    with without_groups(choices.closed_groups()):  # the same for all readers
        articles = repository().lists.get_page(Order.TIME, size=1).total
    return _Counts(get_user_model().objects.filter(is_active=True, left_at=None).count(), articles)


_counts: Recent[_Counts] = Recent(_count, _Counts(0, 0), StoreError, share=0.01)
forget_counts = _counts.forget


@operation("GET", "site", is_open=True)
def get_site(request: HttpRequest) -> Json:
    shapes = Shapes(request)
    return {
        "site_view": _site_view(shapes, is_closed=reading.is_closed_to(request)),
        "admins": [],
        "version": LEMMY_VERSION,
        **facts(my_user=_my_user(request.user, shapes) if isinstance(request.user, User) else None),
        "all_languages": _LANGUAGES,
        "discussion_languages": [0],
        "taglines": [],
        "custom_emojis": [],
        "blocked_urls": [],
    }


def _site_view(shapes: Shapes, *, is_closed: bool) -> Json:
    """Return what the site is. One that is closed to the reader has no numbers."""
    published, welcome, rules = when(beginning()), site_text("welcome"), site_text("rules")
    members, articles = _Counts(0, 0) if is_closed else _counts.get()
    return {
        "site": {
            "id": 1,
            "instance_id": 1,
            "name": chosen.SITE_NAME,
            **facts(description=plain(html_of_site_text(welcome.text)) if welcome else None),
            **facts(sidebar=absolute_links(rules.text, shapes.site) if rules and not is_closed else None),
            "published": published,
            "actor_id": shapes.site,
            "last_refreshed_at": published,
            "inbox_url": shapes.site,
            "public_key": "",
        },
        "local_site": {
            **dict.fromkeys(("site_setup", "enable_downvotes", "community_creation_admin_only"), True),
            **dict.fromkeys(_OFF, False),
            "id": 1,
            "site_id": 1,
            "private_instance": chosen.is_for_members,
            "default_theme": "browser",
            "default_post_listing_type": _LISTING,
            "default_post_listing_mode": "List",
            "default_sort_type": _SORT,
            "actor_name_max_length": 30,
            "captcha_difficulty": "easy",
            "registration_mode": "Closed",
            "published": published,
        },
        "local_site_rate_limit": {"local_site_id": 1, "published": published, **_RATES},
        "counts": {
            "site_id": 1,
            "users": members,
            "posts": articles,
            "comments": 0,
            "communities": 0 if is_closed else len(group_titles()) + 1,
            **dict.fromkeys((f"users_active_{span}" for span in ("day", "week", "month", "half_year")), 0),
        },
    }


def _my_user(member: User, shapes: Shapes) -> Json:
    """Return what the app knows of its member: the account, groups followed and moderated, what is hidden."""
    hidden = shapes.hiding
    shapes.read([member.pk, *hidden.members])
    me, known = shapes.person(member.pk), shapes.knows
    return {
        "local_user_view": {
            "local_user": {
                "id": member.pk,
                "person_id": member.pk,
                "theme": "browser",
                "default_sort_type": _SORT,
                "default_listing_type": _LISTING,
                "post_listing_mode": "List",
                "interface_language": member.language or "browser",
                "accepted_application": True,
                "email_verified": member.has_verified_email,
                "totp_2fa_enabled": member.second_factor,
                "show_read_posts": not member.hides_read,
                **dict.fromkeys(("show_avatars", "show_scores", "show_bot_accounts"), True),
                **dict.fromkeys(("enable_keyboard_navigation", "enable_animated_images"), True),
                **dict.fromkeys(("show_nsfw", "blur_nsfw", "auto_expand", "infinite_scroll_enabled"), False),
                **dict.fromkeys(("open_links_in_new_tab", "send_notifications_to_email", "admin"), False),
                "collapse_bot_comments": False,
            },
            "local_user_vote_display_mode": {
                "local_user_id": member.pk,
                "score": True,
                "upvotes": True,
                "downvotes": True,
                "upvote_percentage": False,
            },
            "person": me,
            "counts": shapes.person_view(member, repository().members.count_shown(member.pk))["counts"],
        },
        "follows": [
            {"community": shapes.community(slug), "follower": me}
            for slug in sorted(shapes.followed)
            if known(slug)
        ],
        "moderates": moderated_by(shapes, member),
        "community_blocks": [
            {"person": me, "community": shapes.community(slug)} for slug in hidden.groups if known(slug)
        ],
        "person_blocks": [{"person": me, "target": shapes.person(one)} for one in hidden.members],
        "instance_blocks": [],
        "discussion_languages": [0],
    }
