"""URLs of the articles app."""

from django.urls import path

from articles.domain.lists import PAGES, Order
from articles.domain.other_apis import OTHER_APIS
from articles.views import (
    about,
    articles,
    crawlers,
    following,
    groups,
    hiding,
    inbox,
    members,
    operation,
    posting,
    preferences,
    readership,
    votes,
    well_known,
)
from articles.views.comments import discussion, feeds as comment_feeds, posting as comment_posting
from articles.views.lists import feeds, hosts, my_lists, pages, refresh, search
from articles.views.owner import urls as owner
from articles.views.ranking import explanation
from articles.web import addresses  # noqa: F401 - registers "article_id"
from articles.web.extras import urlpatterns as of_extras
from moderation import urls as moderation

app_name = "articles"
urlpatterns = [  # the most requested first: Django compares one after the other
    path("articles/<article_id:article_id>/", articles.detail, name="article"),
    *(
        path("" if order is Order.SCORE else f"{name}/", pages.whole(order), name=name)
        for order, name in PAGES.items()
    ),
    path("articles/<article_id:article_id>/vote/", votes.cast_vote, name="vote"),
    path("groups/<str:slug>/", pages.group, name="group"),
    path("about/", about.about, name="about"),
    path("rules/", about.own_rules, name="rules"),
    path("search/", search.search, name="search"),
    path("hosts/<path:host>/", hosts.show, name="host"),
    path("groups/", groups.index, name="groups"),
    path("post/", posting.post, name="post"),
    path("post/known/", posting.known_link, name="known_link"),
    path("post/preview/", posting.preview, name="preview"),
    path("pulse/", refresh.pulse, name="pulse"),
    path("articles/<article_id:article_id>/why/", explanation.page, name="why"),
    path("articles/<article_id:article_id>/edit/", posting.edit, name="edit"),
    path("articles/<article_id:article_id>/withdraw/", posting.withdraw, name="withdraw"),
    path("articles/<article_id:article_id>/views/", readership.article, name="article_views"),
    path("articles/<article_id:article_id>/comments/", comment_posting.write, name="write_comment"),
    path("comments/<comment_id:comment_id>/", discussion.branch, name="comment"),
    path("comments/<comment_id:comment_id>/vote/", votes.cast_vote_on_comment, name="comment_vote"),
    path("comments/<comment_id:comment_id>/edit/", comment_posting.edit, name="edit_comment"),
    path("comments/<comment_id:comment_id>/delete/", comment_posting.delete, name="delete_comment"),
    path("moderation/views/", readership.site, name="site_views"),
    path("moderation/groups/", groups.create, name="create_group"),
    path("moderation/groups/<str:slug>/", groups.manage, name="manage_group"),
    path("articles/<article_id:article_id>/save/", my_lists.save, name="save"),
    path("following/", following.page, name="following"),
    path("following/feed/", following.change_feed, name="change_feed"),
    path("following/groups.opml", following.opml, name="opml"),
    path("following/groups/<str:slug>/", following.follow, name="follow"),
    path("following/<str:token>.<feed_kind:kind>", following.feed, name="following_feed"),
    path("mine/voted/", my_lists.voted, name="voted"),
    path("mine/opposed/", my_lists.opposed, name="opposed"),
    path("mine/saved/", my_lists.saved, name="saved"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/read/", inbox.read, name="read_inbox"),
    path("articles/<article_id:article_id>/mute/", inbox.mute, name="mute"),
    path("users/<str:name>/block/", inbox.block, name="block"),
    path("settings/data/", my_lists.data, name="data"),
    path("settings/about/", members.change_about, name="change_about"),
    path("preferences/", preferences.save, name="preferences"),
    path("hidden/", hiding.show, name="hidden"),
    path("articles/<article_id:article_id>/hide/", hiding.choose, name="choose_hidden"),
    path("users/<str:name>/", members.profile, name="profile"),
    path("users/<str:name>/comments/", members.comments, name="member_comments"),
    path("operation/", operation.operation, name="operation"),
    path("operation/failed-tasks/", operation.failed_tasks, name="failed_tasks"),
    path("metrics", operation.scrape, name="metrics"),
    path("feeds/<feed_list:name>.<feed_kind:kind>", feeds.of_list, name="feed"),
    path("feeds/comments.<feed_kind:kind>", comment_feeds.of_site, name="comments_feed"),
    path(
        "feeds/articles/<article_id:article_id>/comments.<feed_kind:kind>",
        comment_feeds.of_article,
        name="article_comments_feed",
    ),
    path("feeds/users/<str:name>/comments.<feed_kind:kind>", comment_feeds.of_author, name="member_comments_feed"),
    path("feeds/top/<feed_period:period>.<feed_kind:kind>", feeds.of_top, name="top_feed"),
    path("feeds/groups/<str:slugs>.<feed_kind:kind>", feeds.of_groups, name="group_feed"),
    path("feeds/users/<str:name>.<feed_kind:kind>", feeds.of_poster, name="user_feed"),
    path("feeds/hosts/<path:host>.<feed_kind:kind>", feeds.of_host, name="host_feed"),
    path("feeds/search.<feed_kind:kind>", feeds.of_search, name="search_feed"),
    path("favicon.ico", crawlers.favicon, name="favicon"),
    path("manifest.webmanifest", about.manifest, name="manifest"),
    path("worker.js", about.worker, name="worker"),
    path("robots.txt", crawlers.robots, name="robots"),
    path(".well-known/security.txt", well_known.security_txt, name="security_txt"),
    path(".well-known/change-password", well_known.change_password, name="change_password"),
    path(".well-known/nodeinfo", well_known.nodeinfo_links, name="nodeinfo_links"),
    *(
        path(place, well_known.nodeinfo, {"version": version, "of": other}, name="nodeinfo")
        for other in OTHER_APIS
        for place, version in other.nodeinfo.items()
    ),
    path("nodeinfo/2.1", well_known.nodeinfo, name="nodeinfo"),  # `reverse` returns the last one
    path("sitemap.xml", crawlers.sitemap, name="sitemap"),
    path("sitemap-lists.xml", crawlers.lists, name="sitemap_lists"),
    path("sitemap-articles-<article_id:number>.xml", crawlers.articles, name="sitemap_articles"),
    path("healthz", operation.alive, name="healthz"),
    path("readyz", operation.ready, name="readyz"),
    *moderation.urlpatterns,
    *owner.urlpatterns,
]
urlpatterns += of_extras(urlpatterns)
