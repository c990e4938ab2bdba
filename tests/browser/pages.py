"""The catalogue of the site's pages: the tests of all pages open each one in every language.

A new page needs one line in PAGES. Addresses without a page are listed in WITHOUT_PAGE.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.http import Http404
from django.urls import resolve
from playwright.sync_api import Page as Window, Response

from tests import extras

Act = Callable[[Window], Response | None]
"""What is done in the window once the page is open; returns the answer that is then shown, if it is another."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page. `address` may name objects the stage made, such as {own}; `who` is a role, or "" for a reader."""

    name: str
    address: str
    who: str = ""
    status: int = 200
    act: Act | None = None
    site: str = "filled"
    """filled, empty (no article, no group), or stopped (filled, while its store does not answer)."""

    def __str__(self) -> str:
        return self.name


def send(form: str = "main form", **fields: str) -> Act:
    """Fill in and send a form, bypassing the browser's own validation."""

    def act(window: Window) -> Response | None:
        found = window.locator(form).first
        found.evaluate(
            "form => { form.noValidate = true; form.querySelectorAll('details').forEach(one => one.open = true) }"
        )
        for name, value in fields.items():
            found.locator(f"[name={name}]").first.fill(value)
        with window.expect_navigation() as navigation:
            found.evaluate("form => form.requestSubmit(form.querySelector('button[type=submit]'))")
        return navigation.value

    return act


def forge(address: str, **fields: str) -> Act:
    """Send a form that no page of the site contains."""

    def act(window: Window) -> Response | None:
        with window.expect_navigation() as navigation:
            window.evaluate(
                """([address, fields]) => {
                    const form = Object.assign(document.createElement('form'), {method: 'post', action: address});
                    for (const [name, value] of Object.entries(fields))
                        form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value}));
                    document.body.append(form);
                    form.submit();
                }""",
                [address, fields],
            )
        return navigation.value

    return act


def preview(window: Window) -> None:
    """Type a text, and wait until it is shown."""
    window.click(".fold summary")
    window.fill("[name=text]", "# One\n\n*Two* `three`")
    window.locator(".preview em").wait_for()


def of_extra(
    name: str,
    address: str,
    who: str = "",
    status: int = 200,
    sent: dict[str, str] | None = None,
    site: str = "filled",
) -> Page:
    """Return a page; `sent`: the fields with which its form is sent."""
    return Page(name, address, who, status, None if sent is None else send(**sent), site)


def press(key: str) -> Act:
    """Press a key, which changes what the page shows."""

    def act(window: Window) -> None:
        window.keyboard.press(key)
        window.locator("dialog[open]").wait_for()

    return act


PAGES = (
    # Lists
    Page("front page", "/"),
    Page("front page of a member", "/", "member"),
    Page("front page of a member who chose the theme and hides groups", "/", "chooser"),
    Page("front page, page 2", "/?page=2"),
    Page("front page of an empty site", "/", site="empty"),
    Page("newest", "/newest/"),
    Page("newest of an empty site", "/newest/", site="empty"),
    Page("top of the day", "/top/?range=day"), Page("top of all time", "/top/?range=all"),
    Page("top of an empty site", "/top/", site="empty"), Page("hot list", "/hot/"),
    Page("discussions", "/active/"), Page("hot list of a day", "/hot/?range=24h"),
    Page("hot list of a moderator", "/hot/", "moderator"),
    Page("hot list of an empty site", "/hot/", site="empty"),
    Page("how it works", "/about/"),
    Page("groups", "/groups/"),
    Page("groups of a moderator", "/groups/", "moderator"),
    Page("groups of an empty site", "/groups/", site="empty"),
    Page("group", "/groups/redis/"),
    Page("group, newest", "/groups/redis/?order=time"),
    Page("group, hot", "/groups/redis/?order=hot"),
    Page("group of a moderator", "/groups/redis/", "moderator"),
    Page("group, most points", "/groups/redis/?order=points"),
    Page("several groups", "/groups/redis+python/"),
    Page("several groups, one unknown", "/groups/redis+nothing/", status=404),
    Page("group in Chinese", "/groups/中文/"),
    Page("empty group", "/groups/quiet/"),
    Page("empty group, hot", "/groups/quiet/?order=hot"),
    Page("search", "/search/"),
    Page("search, found", "/search/?q=redis"),
    Page("search, newest in a group", "/search/?q=redis&order=time&group=redis"),
    Page("search, comments", "/search/?q=redis&kind=comments"),
    Page("search, groups", "/search/?q=redis&kind=groups"),
    Page("search, members", "/search/?q=demo&kind=members"),
    Page("search, a doubt and a mistake", "/search/?q=pyhton+x:y"),
    Page("host", "/hosts/github.com/"),
    Page("search, found in Chinese", "/search/?q=数据库"),
    Page("search, nothing found", "/search/?q=zzyzx"),
    Page("search, no word", "/search/?q=!!"),
    Page("search of an empty site", "/search/?q=redis", site="empty"),
    Page("keys", "/", act=press("?")),
    # An article
    Page("article", "/articles/1/"),
    Page("article of a member", "/articles/1/", "member"),
    Page("article of its poster", "/articles/{own}/", "poster"),
    Page("article of a moderator", "/articles/1/", "moderator"),
    Page("article with a long title", "/articles/{long}/"),
    Page("explanation of a rank", "/articles/1/why/"),
    Page("explanation of a rank, with votes that wait", "/articles/{own}/why/"),
    Page("explanation of a search result", "/articles/1/why/?q=redis"),
    Page("explanation of a closed article", "/articles/{closed}/why/", "member"),
    Page("closed article", "/articles/{closed}/"),
    Page("removed article", "/articles/{removed}/"),
    Page("removed article of a moderator", "/articles/{removed}/", "moderator"),
    Page("discussion", "/articles/{own}/?comments=oldest"),
    Page("discussion of a member", "/articles/{own}/", "member"),
    Page("discussion of a moderator", "/articles/{own}/", "moderator"),
    Page("locked discussion", "/articles/{long}/", "member"),
    Page("comment", "/comments/{deep}/", "member"),
    Page("comment, refused", "/articles/{own}/comments/", "member", 400, send(text="")),
    Page("reply", "/articles/{own}/comments/?parent={deep}", "member"),
    Page("edit of a comment", "/comments/{deep}/edit/", "poster"),
    Page("deletion of a comment", "/comments/{deep}/delete/", "poster"),
    Page("removal of a comment", "/comments/{deep}/remove/", "moderator"),
    Page("restoration of a comment", "/comments/{hidden}/restore/", "moderator"),
    Page("locking of a discussion", "/articles/{own}/lock/", "moderator"),
    Page("unlocking of a discussion", "/articles/{long}/unlock/", "moderator"),
    Page("post", "/post/", "member"),
    Page("post, refused", "/post/", "member", 400, send(title="", link="ftp://example.org/file")),
    Page("post, previewed", "/post/", "member", act=preview),
    Page("article, only a text", "/articles/{text}/"),
    Page("edit", "/articles/{own}/edit/", "poster"),
    Page("edit, refused", "/articles/{own}/edit/", "poster", 400, send(title=" ", link="javascript:alert(1)")),
    Page("withdrawal", "/articles/{own}/withdraw/", "poster"),
    Page("edit of a moderator", "/articles/{own}/edit/", "moderator"),
    # Members
    Page("profile", "/users/paula/"),
    Page("profile of someone without articles", "/users/mia/"),
    Page("profile of a newcomer", "/users/nina/", "operator"),
    Page("one's own profile", "/users/paula/", "poster"),
    Page("comments of a member", "/users/paula/comments/"),
    Page("login", "/login/"),
    Page("login with a vote that waits", "/login/?next=/newest/&article=1&choice=vote"),
    Page("login, refused", "/login/", act=send(username="mia", password="wrong")),
    Page("sign-up", "/signup/"),
    Page("sign-up, refused", "/signup/", act=send(username="mia", password1="1", password2="2")),
    Page("what is hidden", "/hidden/?add=word", "member", act=send("form:has(#hide-word)", hide="news")),
    Page("what is hidden, without an account", "/hidden/"),
    Page("what to hide", "/articles/{own}/hide/", "member"),
    Page("settings", "/settings/", "member"),
    Page("profile text", "/settings/about/", "member"),
    Page("reading preferences", "/settings/reading/", "member"),
    Page("reading preferences, saved", "/settings/reading/", "member", act=send("main .form")),
    Page("private feed", "/following/feed/", "member"),
    Page("choice of emails", "/settings/mail/", "member"),
    Page("email address", "/settings/email/", "member"),
    Page("email address, refused", "/settings/email/", "member", 400, send(email="nobody")),
    Page("own programs", "/settings/programs/", "member"),
    Page("data and deletion", "/settings/account/", "member"),
    Page("invitations", "/settings/invitations/", "member"),
    Page("invitations, one open", "/settings/invitations/", "member", act=send("main form:not([action])")),
    Page("sign-in and sessions", "/settings/security/", "member"),
    Page("sign-in and sessions, with a second step", "/settings/security/", "chooser"),
    Page("recovery codes", "/settings/security/", "chooser", act=send("form[action$='/codes/']")),
    Page("first password", "/password/", "poster"),
    Page("authenticator app", "/settings/security/app/", "member"),
    Page("authenticator app, refused", "/settings/security/app/", "member", 400, send(code="000000")),
    Page("confirmation", "/login/confirm/?next=/settings/", "member"),
    Page("confirmation, refused", "/login/confirm/?next=/settings/", "member", act=send(password="wrong")),
    Page("profile text, refused", "/settings/about/", "member", 400, send(about="x" * 501)),
    Page("new token", "/settings/programs/", "poster", act=send("main form.form", name="a script")),
    Page("new token, refused", "/settings/programs/", "poster", 400, send("main form.form", name="")),
    Page("change of the password", "/password/", "member"),
    Page("change of the password, refused", "/password/", "member", act=send(old_password="x", new_password1="1")),
    Page("forgotten password", "/password/reset/"),
    Page("forgotten password, refused", "/password/reset/", act=send(email="nobody")),
    Page("forgotten password, sent", "/password/reset/sent/"),
    Page("new password", "{reset}"),
    Page("new password, refused", "{reset}", act=send(new_password1="1", new_password2="2")),
    Page("new password, stale link", "/password/reset/MQ/stale-link/"),
    Page("voted for", "/mine/voted/", "poster"),
    Page("voted for, while votes wait", "/mine/voted/", "newcomer"),
    Page("voted for, nothing", "/mine/voted/", "member"),
    Page("opposed, nothing", "/mine/opposed/", "member"), Page("saved, nothing", "/mine/saved/", "member"),
    Page("saved", "/mine/saved/", "poster"), Page("own flags", "/mine/flags/", "member"),
    Page("own flags, none", "/mine/flags/", "poster"), Page("inbox", "/inbox/", "poster"),
    Page("followed groups", "/following/", "chooser"),
    Page("deletion of the account", "/settings/delete/", "member"),
    Page("deletion of the account, refused", "/settings/delete/", "member", 400, send(name="x")),
    # Moderation
    Page("moderation log", "/moderation/"),
    Page("moderation log of a moderator", "/moderation/", "moderator"),
    Page("moderation log of an empty site", "/moderation/", site="empty"),
    Page("moderation log, filtered", "/moderation/?action=ban&member=bea"),
    Page("moderation log, refused filter", "/moderation/?action=sing", status=400),
    Page("groups of an article", "/articles/{own}/groups/", "moderator"),
    Page("groups of an article, refused", "/articles/1/groups/", "moderator", 400, send(new_group="!!")),
    Page("merge", "/articles/1/merge/", "moderator"),
    Page("merge, refused", "/articles/1/merge/", "moderator", 400, send(into="1", reason="The same")),
    Page("removal", "/articles/1/remove/", "moderator"),
    Page("removal, refused", "/articles/1/remove/", "moderator", 400, send(reason="")),
    Page("restoration", "/articles/{removed}/restore/", "moderator"),
    Page("restoration, refused", "/articles/{removed}/restore/", "moderator", 400, send(reason="")),
    Page("new group", "/moderation/groups/", "moderator"),
    Page("new group, refused", "/moderation/groups/", "moderator", 400, send(title="Redis")),
    Page("change of a group", "/moderation/groups/quiet/", "moderator"),
    Page("moderators of a group", "/moderation/groups/中文/moderators/", "moderator"),
    Page(
        "moderators of a group, refused", "/moderation/groups/中文/moderators/", "moderator",
        400,
        send("section form", name=""),
    ),
    Page("bans from a group", "/moderation/groups/中文/bans/", "steward"),
    Page(
        "bans from a group, refused", "/moderation/groups/中文/bans/", "steward",
        400,
        send("section form", name="x"),
    ),
    Page("change of a group by its moderator", "/moderation/groups/中文/", "steward"),
    Page("taking an article out of a group", "/articles/{own}/groups/", "steward"),
    Page("article of a moderator of its group", "/articles/{own}/", "steward"),
    Page("flagged in a group", "/moderation/queue/", "steward"),
    Page("inbox of a moderator of a group", "/inbox/", "steward"),
    Page("change of a group, refused", "/moderation/groups/quiet/", "moderator", 400, send(title="")),
    Page("flag of a profile", "/users/paula/flag/", "member", 400, send(words="x")),
    Page("decision on a profile, refused", "/users/paula/about/", "moderator", 400, send(reason="")),
    Page("flag", "/articles/1/flag/", "member", 400, send(words="x")),
    Page("request to withdraw", "/articles/{own}/flag/", "poster"),
    Page("flagged", "/moderation/queue/", "moderator"),
    Page("voting rings", "/moderation/rings/", "moderator"),
    Page("redaction", "/articles/{removed}/redact/", "moderator"),
    Page("redaction, refused", "/articles/{removed}/redact/", "moderator", 400, send(reason="")),
    Page("redaction of an entry", "/moderation/log/{noted}/redact/", "moderator"),
    Page("removed articles", "/moderation/removed/", "moderator"),
    Page("removed comments", "/moderation/removed/comments/", "moderator"),
    Page("blocked hosts", "/moderation/hosts/", "moderator"),
    Page("blocked hosts, refused", "/moderation/hosts/?host=example.org", "moderator", 400, send(reason="")),
    Page("automatic rules", "/moderation/rules/", "moderator"),
    Page("new automatic rule", "/moderation/rules/new/", "moderator"),
    Page(
        "new automatic rule, refused", "/moderation/rules/new/", "moderator",
        400,
        send(".form", name="", pattern="("),
    ),
    Page("automatic rule", "/moderation/rules/1/", "moderator", act=send()),
    Page("change an automatic rule", "/moderation/rules/1/edit/", "moderator"),
    Page("waiting for approval", "/mine/held/", "member"),
    Page("waiting for approval, nothing", "/mine/held/", "chooser"),
    Page("sign-ups", "/moderation/members/", "moderator"),
    Page("invitation tree", "/invitations/", "moderator"),
    Page("branch of the invitation tree", "/invitations/mia/", "moderator"),
    Page("moderation of a member", "/users/mia/moderation/", "moderator"),
    Page("moderation of a newcomer", "/users/nina/moderation/", "moderator"),
    Page("moderation of a member, refused", "/users/mia/moderation/", "moderator", 400, send(reason="")),
    Page("moderation of a banned member", "/users/bea/moderation/", "moderator"),
    Page("moderation of a deleted account", "/users/{deleted}/moderation/", "moderator"),
    Page("appeal", "/appeal/", "banned"),
    Page("decisions about a member", "/statements/", "banned"),
    Page("decisions about a member, none", "/statements/", "member"),
    Page("decision", "/statements/{stated}/", "poster"),
    Page("decision, appeal refused", "/statements/{stated}/", "poster", 400, send(text="")),
    Page("report", "/notices/?address=/articles/1/"),
    Page("report, refused", "/notices/", "", 400, send(address="/", explanation="")),
    Page("report, sent", "/notices/{noticed}/"),
    Page("appeal, refused", "/appeal/", "banned", 400, send(text="")),
    Page("voting rings of an empty site", "/moderation/rings/", "moderator", site="empty"),
    Page("article with a voting ring", "/articles/{ringed}/", "moderator"),
    Page("views of the site", "/moderation/views/", "moderator"),
    Page("views of an article", "/articles/1/views/", "moderator"),
    # Ranking and operation
    Page("operation", "/operation/", "operator"),
    Page("operation of a site without problems", "/operation/", "operator", site="empty"),
    Page("administration", "/administration/", "operator", site="empty"),
    Page("name and look", "/administration/look/", "operator", site="empty"),
    Page("name and look, refused", "/administration/look/", "operator", 400, send(SITE_MARK="<b>"), site="empty"),
    Page("readers and members", "/administration/joining/", "operator", site="empty"),
    Page("what new members can do", "/administration/new-members/", "operator", site="empty"),
    Page("rate limits", "/administration/limits/", "operator", site="empty"),
    Page("law", "/administration/law/", "operator", site="empty"),
    Page("programs", "/administration/programs/", "operator", site="empty"),
    Page("texts", "/administration/texts/", "operator"),
    Page("a text", "/administration/texts/rules/en/", "operator"),
    Page("moderators", "/administration/moderators/", "operator"),
    Page("a moderator", "/administration/moderators/Maud/", "operator"),
    Page("email", "/administration/mail/", "operator", site="empty"),
    Page("backups", "/administration/backups/", "operator", site="empty"),
    *(of_extra(*row) for rows in extras.all_of("PAGES") for row in rows),
    Page("API", "/api/docs"),
    # Errors
    Page("error 400", "/", status=400, act=forge("/articles/1/vote/", choice="sideways")),
    Page("error 403", "/moderation/views/", "member", 403),
    Page("vote with a stale token", "/", "member", 403, forge("/articles/1/vote/", choice="vote")),
    Page("post with a stale token", "/", "member", 403, forge("/post/", title="A title", link="https://e.org/")),
    Page("login with a stale token", "/", "member", 403, forge("/login/", username="paula", password="x")),
    Page("login of a session that ended", "/", status=403, act=forge("/post/", title="A title")),
    Page("error 404", "/nowhere/", status=404),
    Page("error 404, no such article", "/articles/999999999/", status=404),
    Page("error 404, no such page", "/?page=9999", status=404),
    Page("error 405", "/articles/1/vote/", status=405),
    Page("error 500", "/fails/", status=500),
    Page("error 503", "/articles/3/", status=503, site="stopped"),
)  # fmt: skip

NAMESPACES_WITHOUT_PAGES = {
    "admin": "Django's own",
    "api": "answers in JSON; but for its documentation",
    **{name: why for more in extras.all_of("NAMESPACES_WITHOUT_PAGES") for name, why in more.items()},
}

WITHOUT_PAGE = {
    "a form's target": """
        accounts:add_passkey accounts:end_session
        accounts:end_sessions accounts:logout accounts:passkey_confirm
        accounts:passkey_login accounts:remove_app
        accounts:remove_passkey accounts:rename_passkey accounts:renew_codes accounts:revoke_invitation
        accounts:send_link accounts:token_revoke accounts:turn_off_second_step accounts:turn_on_second_step
        articles:answer_appeal articles:answer_statement
        articles:block articles:check_ring
        articles:comment_vote articles:continue_sweep articles:continue_votes articles:count_votes
        articles:decide articles:decide_held articles:decide_notice articles:decide_sign_up articles:delete_note
        articles:dismiss_steps articles:end_group_moderator articles:failed_tasks articles:follow
        articles:leave_votes_out articles:lift_ban articles:lift_group_ban articles:mute
        articles:preferences articles:read_inbox articles:reset_second_factor
        articles:restore_sweep articles:save articles:sweep articles:test_mail
        articles:unblock_host articles:undo_merge articles:vouch articles:withdraw_held
        articles:write_note
    """,
    "a feed": """
        articles:article_comments_feed articles:comments_feed articles:feed
        articles:following_feed articles:group_feed articles:host_feed articles:member_comments_feed
        articles:search_feed articles:top_feed articles:user_feed
    """,
    "JSON for a script": """
        accounts:passkey_options articles:known_link articles:preview articles:pulse
    """,
    "XML for crawlers": "articles:sitemap articles:sitemap_lists articles:sitemap_articles",
    "a link in a mail": "accounts:verify accounts:unsubscribe",
    "JSON for directories of sites": "articles:nodeinfo_links articles:nodeinfo",
    "a link from the command line": "accounts:login_link",
    "a style sheet": "articles:accent",
    "only without an administrator: see tests/browser/test_first_hour.py": "articles:first_administrator",
    "in the middle of a login: see tests/browser/test_passkeys.py": "accounts:second_step",
    "the form of a flag on an article": "articles:flag_comment",
    "JSON to download": "articles:data",
    "a file for feed readers": "articles:opml",
    "leads to the icon": "articles:favicon",
    "JSON for browsers": "articles:manifest",
    "a script for browsers": "articles:worker",
    "there only once administrators write rules": "articles:rules",
    "plain text for crawlers": "articles:robots",
    "plain text for finders of vulnerabilities": "articles:security_txt",
    "leads to the page": "articles:change_password",
    "plain text for Prometheus": "articles:metrics",
    "plain text for supervisors": "articles:healthz",
    "plain text for load balancers": "articles:readyz",
}
"""Names of addresses without a page, by what is there instead."""

for _more in extras.all_of("WITHOUT_PAGE"):
    for _what, _names in _more.items():
        WITHOUT_PAGE[_what] = f"{WITHOUT_PAGE.get(_what, '')} {_names}"

DOORS = {"accounts:token_issue": "new token"}
"""Addresses that show a page once a form was sent there: by the page of the catalogue that does it."""


def name_of(page: Page) -> str:
    """Return the name of the page's address in the URLconf, or "" without one."""
    ids = defaultdict(
        lambda: "x",  # any text
        own=1,
        long=1,
        closed=1,
        removed=1,
        ringed=1,
        text=1,
        noted="1.000",
        deep=1_000_001,
        hidden=1_000_001,
        deleted="~9",
        stated=1,
        reset="/password/reset/MQ/x/",
    )
    path = urlsplit(page.address).path.format_map(ids)
    try:
        return resolve(path).view_name
    except Http404:
        return ""
