"""Administration in the browser: settings, moderators, the six steps, mail."""

import re

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts import account_deletion
from accounts.mail import is_sent
from accounts.moderators import GROUP
from articles import housekeeping
from articles.backup import folders
from articles.configuration import choices, recent
from articles.configuration.choices import chosen
from articles.doctor import mail as doctor_mail
from articles.domain.limits import rates
from articles.domain.moderation_log import Action
from articles.models import SiteSetting, SiteText
from articles.views.owner import moderators
from articles.web import wiring
from tests.factories import actor, browser_of, member
from tests.mail_backends import clock_of_a_site
from tests.mail_server import MailServer
from tests.routes import routes_of_pages
from voting_site.configuration.variables import GONE

PATHS = [
    route.path(name="rules" if "/texts/" in route.pattern else "bob", language="en")
    for route in routes_of_pages()
    if route.pattern.startswith("/administration/") and "/first/" not in route.pattern
]
FIELDS = {"SIGN_UP": "closed", "SITE_NAME": "x", "name": "bob", "permissions": "redact", "text": "x"}
LOOK, JOINING, MODERATORS = "/administration/look/", "/administration/joining/", "/administration/moderators/"
PROGRAMS, LIMITS, NEW = "/administration/programs/", "/administration/limits/", "/administration/new-members/"
LAW, MAIL, BACKUPS = "/administration/law/", "/administration/mail/", "/administration/backups/"


@pytest.fixture
def owner(site_store):
    return member("root", pk=70, is_staff=True, is_superuser=True, email="root@example.org")


@pytest.fixture
def browser(owner):
    return browser_of(owner)


@pytest.fixture
def choose(browser, django_capture_on_commit_callbacks):
    """Send a form, as its page would; the changes are committed."""

    def send(path, **fields):
        with django_capture_on_commit_callbacks(execute=True):
            return browser.post(path, fields)

    return send


def logged(site_store):
    entries = site_store.moderation_log.get_page().entries
    return [(one.action, one.actor_name, one.title, one.details) for one in entries]


def test_a_choice_applies_at_once_and_is_in_the_public_log(site_store, choose, alice):
    assert choose(JOINING, SIGN_UP="closed").status_code == 302

    assert chosen.SIGN_UP == "closed"
    assert "This site doesn’t accept new members." in Client().get("/signup/").text
    assert logged(site_store) == [("change-setting", "root", "SIGN_UP", {"from": "open", "to": "closed"})]
    log = Client().get("/moderation/").text
    for part in ("Who can sign up", "Everyone", "No one: administrators add members"):
        assert f"<bdi>{part}</bdi>" in log
    assert "<bdi>谁可以注册</bdi>" in Client().get("/moderation/", headers={"accept-language": "zh"}).text

    choose(JOINING, SIGN_UP="open")
    assert (chosen.SIGN_UP, SiteSetting.objects.filter(name="SIGN_UP").exists()) == ("open", False)


def test_name_mark_and_accent_are_on_every_page_even_on_kept_ones(site_store, choose, article):
    pages = ("/", f"/articles/{article}/", "/about/", "/nothing-here/")
    before = [Client().get(path).text for path in pages]

    choose(LOOK, SITE_NAME="Kiln & <Clay>", SITE_MARK="🏺", SITE_ACCENT="#8a1f5c")

    for path, former in zip(pages, before, strict=True):
        page = Client().get(path).text
        assert "Article Voting" in former
        assert "Kiln &amp; &lt;Clay&gt;</span>" in page
        assert "Article Voting" not in page
        assert '<span class="mark" aria-hidden="true">🏺</span>' in page
        assert 'href="/accent/8a1f5c.css"' in page
    sheet = Client().get("/accent/8a1f5c.css")
    assert "light-dark(#8a1f5c, #" in sheet.text
    assert sheet.headers["Content-Type"] == "text/css"
    assert "immutable" in sheet.headers["Cache-Control"]
    assert Client().get("/manifest.webmanifest").json()["theme_color"] == "#8a1f5c"


@pytest.mark.parametrize("colour", ["ffffff", "f0c040", "8a1f5", "8a1f5c;", "%00", "x" * 3000])
def test_no_other_colour_has_a_style_sheet(site_store, colour):
    assert Client().get(f"/accent/{colour}.css").status_code == 404


@pytest.mark.parametrize(
    ("path", "name", "text", "sentence"),
    [
        (LOOK, "SITE_NAME", "", "This field is required."),
        (LOOK, "SITE_NAME", "x" * 101, "at most 100 characters"),
        (LOOK, "SITE_NAME", "a\nb", "printable"),
        (LOOK, "SITE_NAME", "x" * 500_000, "at most 100 characters"),
        (LOOK, "SITE_MARK", "abc", "one emoji"),
        (LOOK, "SITE_MARK", "<b", "one emoji"),
        (LOOK, "SITE_MARK", "🏺🏺", "one emoji"),
        (LOOK, "SITE_MARK", "🏺" + "\u200d🏺" * 20, "one emoji"),
        (LOOK, "SITE_ACCENT", "#f0c040", "The nearest that is dark enough is #"),
        (LOOK, "SITE_ACCENT", "red;}", "Enter a colour"),
        (LOOK, "SITE_LANGUAGES_own", "tlh", "Choose at least one language."),
        (JOINING, "SIGN_UP", "nobody", "printable"),
        (PROGRAMS, "SECURITY_CONTACT", "http://example.org", "begins with https"),
        (NEW, "NEW_MEMBER_DAYS", "366", "from 0 to 365"),
        (NEW, "NEW_MEMBER_DAYS", "9" * 5000, "from 0 to 365"),
        (LIMITS, "LIMITS_posts_new_period", "2", "Enter a period of at most a day"),
        (LIMITS, "LIMITS_posts_new_unit", "w", "Enter a period of at most a day"),
        (LIMITS, "LIMITS_posts_new_uses", "0", "Enter a number from 1 to 9,999,999."),
        (LIMITS, "LIMITS_posts_new_uses", "", "Enter a number from 1 to 9,999,999."),
        (LIMITS, "LIMITS_posts_new_uses", "9" * 5000, "Enter a number from 1 to 9,999,999."),
    ],
)
def test_a_form_refuses_what_the_variable_refuses(site_store, choose, path, name, text, sentence):
    answer = choose(path, **(rate(posts_new="10/1d") if path == LIMITS else {}) | {name: text})

    assert answer.status_code == 400
    assert sentence in answer.text
    assert not SiteSetting.objects.exists()
    assert logged(site_store) == []


def test_each_setting_is_on_one_page_and_typed_only_if_it_is_a_text(browser, settings):
    pages = [browser.get(path).text for path in (LOOK, JOINING, NEW, LIMITS, LAW, PROGRAMS)]

    names = [name for page in pages for name in set(re.findall(r'name="([A-Z][A-Z_]*[A-Z])(?:_[a-z_]+)?"', page))]
    typed = re.findall(r'type="text" name="([A-Z_]+)', "".join(pages))

    of_own_pages = {"EMAIL_URL", "EMAIL_FROM", "BACKUP_DIR"}
    assert sorted(names) == sorted(settings.BROWSER_SETTINGS.keys() - of_own_pages)
    assert {settings.BROWSER_SETTINGS[name].kind for name in typed} == {"name", "mark", "contact"}


@pytest.mark.parametrize("path", ["/administration/", "/groups/", "/moderation/groups/", NEW, MODERATORS])
def test_three_or_four_pages_of_administration_are_in_sight_with_the_current_one(browser, path):
    (bar,) = re.findall(r'<nav aria-label="Administration">.*?</nav>', browser.get(path).text, re.DOTALL)
    in_sight, _menu, rest = bar.partition("<details")

    assert in_sight.count("href=") in (3, 4)
    assert "aria-current" in in_sight
    assert rest.count("href=") >= 4


def test_what_the_environment_sets_is_fixed_and_wins(settings, site_store, choose, browser):
    SiteSetting.objects.create(name="SIGN_UP", text="closed")
    settings.FIXED_SETTINGS, settings.SIGN_UP = {"SIGN_UP": "approval"}, "approval"
    choices.forget()

    page = browser.get(JOINING).text
    choose(JOINING, SIGN_UP="invitation", INVITATIONS_PER_MEMBER="9")

    assert "SIGN_UP is set in the environment or in .env" in page
    assert re.search(r'value="approval"[^>]*checked[^>]*disabled|disabled[^>]*checked', page)
    assert (chosen.SIGN_UP, chosen.INVITATIONS_PER_MEMBER) == ("approval", 9)
    assert [title for _action, _who, title, _details in logged(site_store)] == ["INVITATIONS_PER_MEMBER"]


def rate(**limits):
    """Return the fields of a form with limits, each such as 10/1d or off."""
    fields = {}
    for name, text in limits.items():
        uses, _slash, period = text.partition("/")
        parts = ("", "", "off") if text == "off" else (uses, period[:-1], period[-1])
        fields |= dict(zip((f"LIMITS_{name}_{part}" for part in ("uses", "period", "unit")), parts, strict=True))
    return fields


def test_limits_of_new_members_reach_the_store_without_a_restart(site_store, choose, browser):
    assert re.search(r'name="LIMITS_votes_new_uses" value="300"', page := browser.get(LIMITS).text)
    for unit in ('value="d" selected>day', 'value="m" selected>minutes'):
        assert f"<option {unit}</option>" in page
    choose(NEW, NEW_MEMBER_DAYS="0", NEW_MEMBER_POINTS="7")
    choose(LIMITS, **rate(posts_new="off", votes_new="1/1d", votes="60/2m"))

    rules = wiring.repository().rules
    assert (rules.new_member, rules.trusted_points) == (0, 7)
    assert rules.limits == rates("posts_new=off, votes_new=1/1d")
    assert rules.limits == chosen.LIMITS
    log = Client().get("/moderation/").text
    assert "Each new member – Votes: 1 in 1 day, Each new member – Articles: No limit" in log
    choose(LIMITS, **rate(posts_new="off", votes_new="300/1d"))
    assert choices.text_of("LIMITS") == "posts_new=off", "the form did not send it"


def test_a_stale_form_gives_back_what_was_typed_into_parts_of_a_limit(site_store, owner):
    browser = browser_of(owner, strict=True)
    browser.get("/settings/")

    page = browser.post(LIMITS, {"csrfmiddlewaretoken": "x" * 64} | rate(votes="7/3m"))

    assert (page.status_code, 'name="LIMITS_votes_uses" value="7"' in page.text) == (403, True)


def test_the_log_says_that_mail_and_backups_were_set_up_but_not_where(site_store, owner):
    for name, details in (("EMAIL_URL", {}), ("BACKUP_DIR", {"from": "", "to": "/srv/copies"})):
        site_store.moderation_log.note(Action.CHANGE_SETTING, actor(owner), name, "", details)

    log = Client().get("/moderation/").text

    assert re.findall(r"<bdi>(.*?)</bdi>", log) == ["Daily backups", "Off", "On", "Mail server"]
    site_store.moderation_log.note(Action.CHANGE_SETTING, actor(owner), "GONE", "", {"from": "x", "to": "y"})
    log = Client().get("/moderation/").text
    assert ("changed a setting that no longer exists" in log, "GONE" in log) == (True, False)


def test_other_processes_follow_in_ten_seconds_with_one_query(monkeypatch, site_store, django_assert_num_queries):
    now = 1000.0
    monkeypatch.setattr(recent.time, "monotonic", lambda: now)
    choices.forget()
    with django_assert_num_queries(1):
        assert (chosen.SIGN_UP, chosen.SITE_NAME) == ("open", "Article Voting")
    SiteSetting.objects.create(name="SIGN_UP", text="closed")  # by another process

    assert chosen.SIGN_UP == "open"
    now += recent.KEPT_SECONDS
    assert chosen.SIGN_UP == "closed"


def test_a_choice_that_this_version_does_not_accept_is_ignored(site_store):
    SiteSetting.objects.create(name="SIGN_UP", text="by-lottery")
    SiteSetting.objects.create(name="DEBUG", text="1")
    choices.forget()

    assert chosen.SIGN_UP == "open"
    assert chosen.DEBUG is False
    assert choices.saved_but_invalid() == ["SIGN_UP"]


@pytest.mark.parametrize("text", ["gongs=1/1m,posts=7/1d", "posts=7/1d,gongs=off", "gongs=1/1m"])
def test_a_limit_that_is_gone_takes_no_other_limit_with_it(site_store, text):
    SiteSetting.objects.create(name="LIMITS", text=text)
    choices.forget()

    assert choices.saved_but_invalid() == []
    assert rates(",".join(pair for pair in text.split(",") if "gongs" not in pair)) == chosen.LIMITS


def test_what_was_chosen_for_a_setting_that_is_gone_is_taken_out_once(site_store):
    SiteSetting.objects.create(name="LIMIT_POSTS_NEW", text="5 in 1 d")
    SiteSetting.objects.create(name="SIGN_UP", text="closed")
    choices.forget()

    assert choices.take_out(GONE) == {"LIMIT_POSTS_NEW": "5 in 1 d"}
    assert choices.take_out(GONE) == {}
    assert chosen.SIGN_UP == "closed"


def test_readers_get_an_offered_language_or_the_sites_own(site_store, choose, alice):
    alice.language = "en"
    alice.save()
    choose(LOOK, SITE_LANGUAGES_own="zh-hans")

    for browser in (Client(), browser_of(alice)):
        page = browser.get("/about/", headers={"accept-language": "en"})
        assert '<html lang="zh-Hans"' in page.text
        assert 'value="en"' not in page.text
    assert "zh-hans" in Client().get("/feeds/newest.atom").text


# Who may


@pytest.mark.parametrize("path", PATHS)
def test_only_administrators_reach_the_pages(site_store, owner, bob, carol, mallory, path):
    staff = member("staff", pk=71, is_staff=True)
    for who, status in ((mallory, 403), (carol, 403), (staff, 302)):
        for method in ("get", "post"):
            answer = getattr(browser_of(who), method)(path, FIELDS)
            assert answer.status_code in (status, 405)
    for method in ("get", "post"):
        assert getattr(Client(), method)(path).status_code in (302, 403, 405)
    assert not SiteSetting.objects.exists()
    assert not SiteText.objects.exists()
    assert not bob.groups.exists()


# Moderators


def test_a_member_becomes_a_moderator_by_name_and_stops_being_one(site_store, choose, bob):
    every = [code for code, _label in moderators._choices()]
    choose(MODERATORS, name=" BOB ", permissions=every)
    assert list(bob.groups.values_list("name", flat=True)) == [GROUP]
    assert browser_of(bob).get("/moderation/queue/").status_code == 200

    choose(f"{MODERATORS}bob/", permissions=["remove_articles", "redact"])
    bob = type(bob).objects.get(pk=bob.pk)
    assert moderators.permissions_of(bob) == ["remove_articles", "redact"]
    assert not bob.groups.exists()

    choose(f"{MODERATORS}bob/", permissions=every, remove="1")
    assert moderators.permissions_of(type(bob).objects.get(pk=bob.pk)) == []
    assert browser_of(bob).get("/moderation/queue/").status_code == 403
    acts = [(action, title, sorted(details)) for action, _who, title, details in logged(site_store)]
    assert acts == [
        ("change-permissions", "bob", ["revoked"]),
        ("change-permissions", "bob", ["revoked"]),
        ("change-permissions", "bob", ["granted"]),
    ]


def test_other_permissions_and_groups_of_a_member_stay(site_store, owner, bob):
    editors = Group.objects.create(name="Translators")
    bob.groups.add(editors)

    moderators.permit(bob, ["redact"], actor(owner))
    moderators.permit(type(bob).objects.get(pk=bob.pk), [], actor(owner))

    assert list(bob.groups.all()) == [editors]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "nobody", "permissions": ["redact"]}, "There is no member with this name."),
        ({"name": "root", "permissions": ["redact"]}, "Administrators may do everything already."),
        ({"name": "bob"}, "Choose at least one permission."),
        ({"name": "bob", "permissions": ["add_user"]}, "not one of the available choices"),
        ({"name": "bob\x00", "permissions": ["redact"]}, "Null characters"),
    ],
)
def test_a_moderator_is_a_member_with_permissions_of_moderators(choose, bob, fields, sentence):
    answer = choose(MODERATORS, **fields)

    assert (answer.status_code, sentence in answer.text) == (400, True)
    assert "(optional)" not in answer.text
    assert moderators.permissions_of(bob) == []


def test_the_name_of_a_moderator_leaves_the_log_with_the_account(site_store, choose, bob):
    choose(MODERATORS, name="bob", permissions=["redact"])
    assert site_store.moderation_log.get_page().entries[0].names_member

    account_deletion.begin(bob.pk)
    account_deletion.advance_briefly()

    assert "bob" not in Client().get("/moderation/").text


# The six steps


def test_an_administrator_sees_the_steps_until_they_are_hidden(site_store, owner, browser, choose, alice, carol):
    first = browser.get("/").text
    assert "0 of 6 steps are done." in first
    assert "Not written yet." in first
    assert first.count("Not set up.") == 2
    for reader in (None, alice, carol):
        assert "6 steps" not in browser_of(reader).get("/").text
    assert "6 steps" not in browser.get("/newest/").text

    assert choose("/administration/hide/").status_code == 302

    assert "6 steps" not in browser.get("/").text
    assert "Who can sign up" in browser.get("/administration/").text


def test_a_script_learns_that_a_text_was_saved_so_that_it_sends_it_once(browser):
    answer = browser.post("/administration/texts/rules/en/", {"text": "x"}, headers={"Accept": "application/json"})

    assert answer.json() == {"address": "/administration/texts/"}


@pytest.fixture
def mail_server(monkeypatch):
    """A function that starts a mail server, which asks for a login; a site that runs sends test mails."""
    monkeypatch.setattr(doctor_mail, "time", clock_of_a_site())
    servers = []

    def start(**answers):
        servers.append(MailServer(**{"EHLO": "250-mail\r\n250 AUTH PLAIN", "AUTH": "235 ok"} | answers))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def entered(server, **fields):
    login = {"security": "none", "user": "news", "password": "s3 cr/et@", "sender": "News <news@example.org>"}
    return {"host": "127.0.0.1", "port": server.port} | login | fields


def test_mail_is_sent_by_the_server_that_an_administrator_enters(site_store, choose, browser, mail_server):
    server = mail_server()

    choose(MAIL, **entered(server))
    choose(f"{MAIL}test/", to="mallory@example.org")

    (sent,) = server.mails
    assert "From: News <news@example.org>" in sent
    assert "To: root@example.org" in sent
    page = browser.get(MAIL).text
    assert "has accepted the email to root@example.org" in page
    assert "A test email was accepted" in page
    assert SiteSetting.objects.get(name="EMAIL_URL").text.startswith("gAAAA")
    assert "s3" not in page + Client().get("/moderation/").text
    assert ("change-setting", "root", "EMAIL_URL", {}) in logged(site_store)

    choose(MAIL, remove="1")
    assert not is_sent()
    assert "No emails are sent yet" in browser.get(MAIL).text


@pytest.mark.parametrize(
    ("answers", "fields", "words"),
    [
        ({"AUTH": "535 wrong password"}, {}, "535 wrong password"),
        ({}, {"security": "starttls"}, "STARTTLS extension not supported"),
        ({"MAIL": "553 not your address"}, {}, "553 not your address"),
    ],
)
def test_an_administrator_reads_why_nothing_is_sent(choose, browser, mail_server, answers, fields, words):
    choose(MAIL, **entered(mail_server(**answers), **fields))
    choose(f"{MAIL}test/")

    assert words in browser.get(MAIL).text.replace("&#x27;", "'")
    assert choices.note_of("step mail") == ""


def test_a_saved_password_is_kept_only_for_its_server(choose, browser, mail_server):
    server, other = mail_server(), mail_server()
    choose(MAIL, **entered(server))

    assert choose(MAIL, **entered(server, password="", sender="new@example.org")).status_code == 302
    for change in ({"port": other.port}, {"user": "root"}, {"security": "tls"}, {"host": "localhost"}):
        answer = choose(MAIL, **entered(server, password="", **change))
        assert answer.status_code == 400
        assert "kept only for the same server and user" in answer.text

    assert chosen.EMAIL_URL["EMAIL_HOST_PASSWORD"] == "s3 cr/et@"
    assert chosen.EMAIL_FROM == "new@example.org"


@pytest.mark.parametrize(
    "fields", [{"host": "a b"}, {"host": "x@y"}, {"port": "0"}, {"sender": "news"}, {"password": "pässword"}]
)
def test_a_mail_server_that_cannot_be_one_is_refused(choose, mail_server, fields):
    assert choose(MAIL, **entered(mail_server(), **fields)).status_code == 400
    assert not SiteSetting.objects.exists()


def test_the_mail_server_asks_for_a_fresh_proof(browser, choose, mail_server):
    session = browser.session
    session["proven"] -= 601
    session.save()

    assert "/confirm/" in browser.get(MAIL)["Location"]
    assert choose(MAIL, **entered(mail_server())).status_code == 403
    assert not SiteSetting.objects.exists()


def test_what_the_environment_says_of_mail_and_backups_wins(settings, site_store, choose, browser, mail_server):
    choose(MAIL, **entered(mail_server()))
    fixed = {"EMAIL_URL": "memorymail://", "EMAIL_FROM": "a@example.org", "BACKUP_DIR": "/var/backups"}
    settings.FIXED_SETTINGS = fixed
    choices.forget()
    before = logged(site_store)

    assert not is_sent()
    for path, fields in ((MAIL, entered(mail_server())), (BACKUPS, {"BACKUP_DIR": "on"}), (MAIL, {"remove": "1"})):
        choose(path, **fields)
        assert "is set in the environment or in .env" in browser.get(path).text
    assert 'name="host"' not in browser.get(MAIL).text
    assert logged(site_store) == before


def test_with_another_secret_key_the_mail_server_must_be_entered_again(choose, mail_server, settings):
    choose(MAIL, **entered(mail_server()))
    settings.SECRET_KEY = "another"
    choices.forget()

    assert not is_sent()
    assert choices.saved_but_invalid() == ["EMAIL_URL"]


def test_backups_can_be_switched_on_into_the_data_directory_alone(site_store, choose, browser, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    choose(BACKUPS, BACKUP_DIR="/etc")
    assert folders.chosen_folder() is None

    choose(BACKUPS, BACKUP_DIR="on")
    assert "made" in housekeeping._back_up(wiring.repository())
    assert len(folders.list_backups(tmp_path / "backups")) == 1
    page = browser.get(BACKUPS).text
    assert re.search(r"The last one is .* old, and takes [\d.]+.[KM]B", page)
    assert f"restore {tmp_path}.old/backups" in page
    assert logged(site_store)[0] == ("change-setting", "root", "BACKUP_DIR", {"from": "", "to": "backups"})

    choose(BACKUPS, BACKUP_DIR="off")
    assert housekeeping._back_up(wiring.repository()) == ""


def test_the_page_says_that_no_process_sends_mail(choose, browser, settings, monkeypatch):
    settings.EMAIL_BACKEND = "tests.mail_backends.Accepting"
    monkeypatch.setattr(doctor_mail, "time", clock_of_a_site(lambda: None))

    choose("/administration/mail/test/")

    assert "No process of the site has taken the test email." in browser.get("/administration/mail/").text
    assert choices.note_of("step mail") == ""
