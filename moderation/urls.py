"""Addresses of moderation, in the namespace of the articles app."""

from django.urls import path

from articles.web import addresses  # noqa: F401 - registers "article_id"
from moderation import (
    bans,
    content,
    flags,
    hosts,
    left_out,
    log,
    members,
    notes,
    profiles,
    queue,
    redactions,
    sign_ups,
    sweeps,
    voting_rings,
)

urlpatterns = [
    path("articles/<article_id:article_id>/groups/", content.assign_groups, name="assign_groups"),
    path("articles/<article_id:article_id>/remove/", content.removing, name="remove"),
    path("articles/<article_id:article_id>/restore/", content.restoring, name="restore"),
    path("articles/<article_id:article_id>/lock/", content.locking, name="lock"),
    path("articles/<article_id:article_id>/unlock/", content.unlocking, name="unlock"),
    path("articles/<article_id:article_id>/flag/", flags.article, name="flag"),
    path("comments/<comment_id:comment_id>/flag/", flags.comment, name="flag_comment"),
    path("comments/<comment_id:comment_id>/remove/", content.removing_comment, name="remove_comment"),
    path("comments/<comment_id:comment_id>/restore/", content.restoring_comment, name="restore_comment"),
    path("moderation/", log.public_log, name="log"),
    path("moderation/log/<str:moment>/redact/", redactions.entries, name="redact_entries"),
    path("articles/<article_id:article_id>/redact/", redactions.article, name="redact"),
    path("articles/<article_id:article_id>/ring/", voting_rings.check, name="check_ring"),
    path("moderation/queue/", queue.index, name="queue"),
    path("moderation/queue/decide/", queue.decide, name="decide"),
    path("moderation/rings/", voting_rings.index, name="voting_rings"),
    path("moderation/rings/blocs/", voting_rings.blocs, name="voting_blocs"),
    path("moderation/removed/", log.removed_articles, name="removed"),
    path("moderation/removed/comments/", log.removed_comments, name="removed_comments"),
    path("moderation/hosts/", hosts.index, name="blocked_hosts"),
    path("moderation/hosts/unblock/", hosts.unblock_by_form, name="unblock_host"),
    path("moderation/members/", sign_ups.index, name="sign_ups"),
    path("moderation/members/decide/", sign_ups.decide, name="decide_sign_up"),
    path("mine/flags/", flags.mine, name="flags"),
    path("users/<str:name>/flag/", profiles.flag_by_form, name="flag_member"),
    path("users/<str:name>/about/", profiles.decide, name="member_about"),
    path("users/<str:name>/moderation/", members.index, name="member_moderation"),
    path("users/<str:name>/moderation/bans/<int:ban_id>/lift/", members.lift, name="lift_ban"),
    path("users/<str:name>/moderation/votes/", left_out.leave_out, name="leave_votes_out"),
    path("users/<str:name>/moderation/votes/count/", left_out.count_again, name="count_votes"),
    path("users/<str:name>/moderation/votes/continue/", left_out.go_on, name="continue_votes"),
    path("users/<str:name>/moderation/sweep/", sweeps.begin_by_form, name="sweep"),
    path("users/<str:name>/moderation/sweep/<int:sweep_id>/", sweeps.continue_by_form, name="continue_sweep"),
    path(
        "users/<str:name>/moderation/sweep/<int:sweep_id>/restore/", sweeps.restore_by_form, name="restore_sweep"
    ),
    path("users/<str:name>/moderation/notes/", notes.write_by_form, name="write_note"),
    path("users/<str:name>/moderation/notes/<int:note_id>/delete/", notes.delete_by_form, name="delete_note"),
    path("appeal/", bans.appeal, name="appeal"),
    path("moderation/queue/appeals/<int:ban_id>/", bans.answer, name="answer_appeal"),
]
