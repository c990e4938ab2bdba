"""Addresses of Lemmy's API, and what of it is refused: without an equal on the site, or for moderators there."""

from importlib import import_module

from django.http import HttpRequest
from django.urls import path
from django.utils.translation import gettext as _

from accounts.models import READ
from articles.api.protocol.problems import Problem
from extras.lemmy.operations import Json, answer, operation

_MODULES = ("articles", "comments", "groups", "inbox", "login", "members", "moderation_log", "search", "site")
for _module in _MODULES:
    import_module(f"extras.lemmy.{_module}")  # registers its operations

MODERATORS, ADMINISTRATORS = "not_a_mod_or_admin", "not_an_admin"

REFUSED = {
    "registration_closed": "POST user/register",
    "only_admins_can_create_communities": "POST community",
    "couldnt_create_private_message": "POST private_message, POST private_message/report",
    "couldnt_update_private_message": "PUT private_message, POST private_message/delete, "
    "POST private_message/mark_as_read",
    "federation_disabled": "POST site/block",
    "couldnt_update_user": "POST user/delete_account, POST user/password_reset, POST user/password_change, "
    "PUT user/change_password, POST user/verify_email, POST user/totp/generate, POST user/totp/update, "
    "GET user/export_settings, POST user/import_settings, GET account/list_media",
    MODERATORS: "PUT community, POST community/delete, PUT community/hide, POST community/remove, "
    "POST community/transfer, POST community/ban_user, POST community/mod, POST post/remove, POST post/lock, "
    "POST post/feature, GET post/report/list, PUT post/report/resolve, GET post/like/list, "
    "POST comment/remove, POST comment/distinguish, GET comment/report/list, PUT comment/report/resolve, "
    "GET comment/like/list, GET user/report_count",
    ADMINISTRATORS: "POST site, PUT site, GET user/banned, POST user/ban, POST user/leave_admin, POST admin/add, "
    "GET admin/registration_application/count, GET admin/registration_application/list, "
    "GET admin/registration_application, PUT admin/registration_application/approve, "
    "POST admin/purge/person, POST admin/purge/community, POST admin/purge/post, POST admin/purge/comment, "
    "GET admin/list_all_media, POST custom_emoji, PUT custom_emoji, POST custom_emoji/delete, "
    "GET private_message/report/list, PUT private_message/report/resolve",
}
"""Operations that are refused, by Lemmy's word."""


FIXED: dict[str, tuple[str | None, Json]] = {
    "user/validate_auth": (READ, {"success": True}),
    "private_message/list": (READ, {"private_messages": []}),
    "user/get_captcha": (None, {}),
    "federated_instances": (None, {}),
}
"""Answers that never change, by path, each with what a token must allow; None without one."""


def _refuse(word: str, method: str, place: str) -> None:
    scope = None if word == "registration_closed" else READ

    @operation(method, place, scope=scope, is_open=True, word=word)
    def refuse(request: HttpRequest) -> Json:  # noqa: ARG001 - refused in any case
        raise Problem(403, word, _("Apps cannot do this here. Please use the site itself."))


def _fix(place: str, scope: str | None, said: Json) -> None:
    operation("GET", place, scope=scope, is_open=True)(lambda _request: said)


for _word, _operations in REFUSED.items():
    for _operation in _operations.split(", "):
        _refuse(_word, *_operation.split(" "))
for _path, (_scope, _answer) in FIXED.items():
    _fix(_path, _scope, _answer)

app_name = "lemmy"
urlpatterns = [
    path("user/login", answer, {"path": "user/login"}, name="login"),
    path("<path:path>", answer, name="operation"),
]
