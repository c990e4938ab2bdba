import html
import re

import pytest
from django.test import Client

from accounts.models import Ban, MemberNote, WaitingAccount
from articles.domain.comments import root_of
from articles.domain.errors import GroupExists
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import Action, Actor
from articles.models import BlockedHost
from moderation.log import ACTIONS
from tests import extras
from tests.factories import actor, browser_of, member, post
from tests.internals import failing, log
from tests.store_state import refusing_writes


def log_text():
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", Client().get("/moderation/").content.decode()))


def test_groups_are_ticked_unticked_typed_and_created_in_one_step(site_store, article, carol):
    site_store.groups.create("web", "Web")
    site_store.groups.create("redis", "Redis")

    response = browser_of(carol).post(
        f"/articles/{article}/groups/",
        {"was": "python", "groups": ["web", "redis"], "new_group": "Data & Bases", "reason": "it fits"},
    )

    assert response.headers["Location"] == f"/articles/{article}/"
    assert set(site_store.articles.get(article).groups) == {"web", "redis", "data-bases"}
    assert site_store.groups.get_titles()["data-bases"] == "Data & Bases"
    for part in (
        "carol changed the groups of A title",
        "Web , Redis , Data &amp; Bases",
        "Python",
        "it fits",
        "created the group",
    ):
        assert part in log_text()


def test_two_moderators_at_once_each_change_only_what_they_edited(site_store, article, carol):
    site_store.groups.create("web", "Web")
    site_store.groups.assign(article, ["web"])  # by the other moderator, after this form was rendered

    browser_of(carol).post(f"/articles/{article}/groups/", {"was": "python", "groups": [""]})

    assert site_store.articles.get(article).groups == ("web",)


@pytest.mark.parametrize("fields", [{"reason": "why"}, {"was": "python"}, {"new_group": "Web"}])
def test_a_form_without_its_fields_changes_no_groups(site_store, article, carol, fields):
    response = browser_of(carol).post(f"/articles/{article}/groups/", fields)

    assert response.status_code == 400
    assert "The form was incomplete. Please choose the groups again." in response.text
    assert site_store.articles.get(article).groups == ("python",)
    assert set(site_store.groups.get_titles()) == {"python"}


def test_a_group_is_created_renamed_and_merged(site_store, article, carol):
    browser = browser_of(carol)

    assert browser.post("/moderation/groups/", {"title": "Machine Learning"}).status_code == 302
    browser.post(f"/articles/{article}/groups/", {"was": "python", "groups": ["python", "machine-learning"]})
    renamed = {"title": "ML", "reason": "shorter", "rename": "1"}
    assert browser.post("/moderation/groups/machine-learning/", renamed).status_code == 302
    assert site_store.groups.get_titles()["machine-learning"] == "ML"
    merged = {"merge-into": "python", "merge-reason": "too few", "merge-sure": "on", "merge": "1"}
    assert browser.post("/moderation/groups/machine-learning/", merged).headers["Location"] == "/groups/python/"

    assert site_store.articles.get(article).groups == ("python",)
    assert Client().get("/groups/machine-learning/").headers["Location"] == "/groups/python/"
    for part in ("created the group “Machine Learning”", "shorter", "merged the group “ML”", "too few"):
        assert part in log_text()


@pytest.mark.parametrize("title", ["Python", "PYTHON", "python", "snake-things"])
def test_a_group_cannot_take_the_title_of_another(site_store, article, carol, title):
    site_store.groups.create("snakes", "Snakes")
    site_store.groups.create("snake-things", "Boas")

    response = browser_of(carol).post("/moderation/groups/snakes/", {"title": title, "rename": "1"})

    assert response.status_code == 400
    assert "There is already a group with this name." in response.text
    assert site_store.groups.get_titles()["snakes"] == "Snakes"


def test_nothing_that_the_store_cannot_log_is_done(site_store, bob, carol):
    note, browser = MemberNote.objects.create(member=bob, text="A secret"), browser_of(carol)
    acts = {
        "/users/bob/moderation/": {"scope": "both", "days": "7", "reason": "Spam"},
        f"/users/bob/moderation/notes/{note.pk}/delete/": {"confirmed": "1"},
        "/moderation/hosts/": {"host": "pills.example", "reason": "Spam"},
    }

    with refusing_writes(site_store):
        assert [browser.post(*act).status_code for act in acts.items()] == [503] * len(acts)

    assert (Ban.objects.count(), MemberNote.objects.count(), BlockedHost.objects.count()) == (0, 1, 0)
    assert browser_of(bob).get("/post/").status_code == 200


def test_a_moderator_who_loses_a_race_for_a_title_sees_an_error_at_the_field(site_store, carol):
    site_store.groups.create("snakes", "Snakes")
    for act, path, fields in (("create", "", {}), ("rename", "snakes/", {"rename": "1"})):
        with failing(type(site_store.groups), act, GroupExists("python")):
            response = browser_of(carol).post(f"/moderation/groups/{path}", {"title": "Python"} | fields)
        assert response.status_code == 400
        assert "There is already a group with this name." in response.text


def test_a_merge_requires_a_confirmation_tick(site_store, article, carol):
    site_store.groups.create("snakes", "Snakes")
    fields = {"merge-into": "snakes", "merge": "1"}

    response = browser_of(carol).post("/moderation/groups/python/", fields)

    assert response.status_code == 400
    assert "Tick this box to merge the groups." in response.text
    assert "python" in site_store.groups.get_titles()


def test_removal_and_restoration_require_a_public_reason(site_store, article, carol):
    browser = browser_of(carol)
    assert browser.post(f"/articles/{article}/remove/", {"reason": " "}).status_code == 400
    assert site_store.articles.get(article).removed is None

    browser.post(f"/articles/{article}/remove/", {"reason": "an advertisement"})
    assert site_store.articles.get(article).removed == "an advertisement"
    browser.post(f"/articles/{article}/restore/", {"reason": "my mistake"})
    assert site_store.articles.get(article).removed is None

    for part in ("carol removed A title", "an advertisement", "carol restored A title", "my mistake"):
        assert part in log_text()


@pytest.mark.parametrize("change", ["remove", "restore"])
def test_a_form_sent_twice_takes_effect_once_without_an_error(site_store, article, carol, change):
    browser = browser_of(carol)
    if change == "restore":
        site_store.articles.remove(article, Actor(99, "dave"), "spam")

    for _ in range(2):
        response = browser.post(f"/articles/{article}/{change}/", {"reason": "a reason"}, follow=True)

    assert 'role="alert"' not in response.text
    assert len(list(site_store.moderation_log.iterate("carol"))) == 1
    again = browser.post(f"/articles/{article}/{change}/", {"reason": "another"}, follow=True)
    assert 'role="alert"' in again.text


def test_the_poster_and_moderators_who_may_restore_see_the_link(site_store, article, alice, mallory, carol):
    site_store.articles.remove(article, actor(carol), "spam")
    pages = {user.username: browser_of(user).get(f"/articles/{article}/").text for user in (alice, mallory, carol)}

    link = '<a href="https://example.org/a" rel="nofollow noopener noreferrer ugc">https://example.org/a</a>'
    assert link in pages["carol"]
    assert link in pages["alice"]
    assert "example.org/a" not in pages["mallory"] + Client().get(f"/articles/{article}/").text


def test_an_old_form_of_what_was_done_before_says_so_and_takes_no_reason(site_store, article, carol):
    browser, changes = browser_of(carol), {"restore": "remove", "unlock": "lock"}
    for undo, act in changes.items():
        assert 'name="reason"' not in browser.get(f"/articles/{article}/{undo}/", follow=True).text
        browser.post(f"/articles/{article}/{act}/", {"reason": "Spam"})
        page = browser.get(f"/articles/{article}/{act}/", follow=True)
        assert (page.redirect_chain != [], 'class="message error"' in page.text) == (True, True)


def test_a_create_form_sent_twice_creates_the_group_once(site_store, carol):
    browser, group = browser_of(carol), {"title": "Machine Learning"}
    browser.post("/moderation/groups/", group)

    response = browser.post("/moderation/groups/", group, follow=True)

    assert response.redirect_chain == [("/moderation/groups/", 302)]
    assert 'group <a href="/groups/machine-learning/" dir="auto">Machine Learning</a> has been' in response.text
    assert browser.post("/moderation/groups/", {"title": "Machine learning"}).status_code == 400


def test_groups_are_created_in_a_row_each_with_its_description_and_readers(
    site_store, carol, alice, django_capture_on_commit_callbacks
):
    browser = browser_of(carol)
    for title, visible in (("Glazes & <Slips>", "members"), ("Kilns", "everyone")):
        fields = {"title": title, "description": f"About *{title}*", "visible": visible}
        with django_capture_on_commit_callbacks(execute=True):
            page = browser.post("/moderation/groups/", fields, follow=True)
        assert page.text.count('name="title"') == 1

    assert "Glazes &amp; &lt;Slips&gt;" in browser_of(alice).get("/groups/").text
    assert "<em>Kilns</em>" in Client().get("/groups/kilns/").text
    assert Client().get("/groups/glazes-slips/").status_code == 404
    told = [(entry.action, entry.title) for entry in site_store.moderation_log.iterate("carol")]
    assert ("show-group", "Glazes & <Slips>") in told


def test_a_merge_sent_twice_leads_to_the_target_group(site_store, article, carol):
    site_store.groups.create("snakes", "Snakes")
    browser = browser_of(carol)
    fields = {"merge-into": "snakes", "merge-sure": "on", "merge": "1"}

    answers = [browser.post("/moderation/groups/python/", fields) for _ in range(2)]

    assert [answer["Location"] for answer in answers] == ["/groups/snakes/"] * 2


def account_of(page):
    return re.search(r'<nav class="account".*?</nav>', page, re.DOTALL)[0]


def test_one_menu_entry_leads_moderators_to_all_their_tools(site_store, article, alice, carol):
    browser = browser_of(carol)

    assert "Moderation" not in account_of(Client().get("/").text) + account_of(browser_of(alice).get("/").text)
    names = ("queue/", "members/", "rings/", "removed/", "hosts/", "rules/", "")
    tools = [*(f"/moderation/{name}" for name in names), "/groups/", "/moderation/views/"]
    tools += [path for paths in extras.all_of("OF_MODERATORS") for path, form in paths.items() if form is None]
    for path in (*tools, "/moderation/groups/"):
        page = browser.get(path).text
        marked = re.search(r'<a href="/moderation/" aria-current="\w+">Moderation</a>', account_of(page))
        assert marked or path == "/groups/", path
        (inside,) = re.findall(r'<nav aria-label="Moderation">.*?</nav>', page, re.DOTALL)
        assert sorted(re.findall(r'href="([^"]+)"', inside)) == sorted(tools)
        in_sight = inside.partition("<details")[0]
        assert in_sight.count("href=") <= 4
        assert "aria-current" in in_sight, path
    for path in ("/moderation/", "/groups/"):
        assert 'aria-label="Moderation"' not in Client().get(path).text


def test_what_waits_is_in_sight_of_moderators(site_store, carol):
    WaitingAccount.objects.create(user=member("newcomer", is_active=False))

    bar = browser_of(carol).get("/moderation/rules/").text.partition('aria-label="Moderation"')[2]
    in_sight = bar.partition("<details")[0]

    assert re.findall(r">([^<>]+)</a>", in_sight) == ["Queue", "Sign-ups (1)", "Log", "Automatic rules"]


@pytest.fixture
def filled_log(site_store, article, carol):
    """A log of carol's 30 bans of Dave, two of Eve, and the removal of alice's article in the group python."""
    site_store.articles.remove(article, actor(carol), "Old news")
    for n, name in enumerate([*["Dave"] * 15, "Eve", *["Dave"] * 15, "Eve"]):
        site_store.moderation_log.note(Action.BAN, actor(carol), name, f"Spam {n}")
    return site_store


def test_what_a_moderator_did_several_times_in_a_row_is_one_line_of_the_log(site_store, article, carol):
    for number in range(5, 9):
        site_store.articles.remove(post(site_store, number), actor(carol), f"Spam {number}")
    for name in ("Dave", "Eve"):
        site_store.moderation_log.note(Action.BAN, actor(carol), name, "Rude")

    page = Client().get("/moderation/").text
    lines = re.findall(r"<summary><span>(.*?)<time", page, re.DOTALL)

    assert [" ".join(re.sub("<[^>]+>", "", line).split()) for line in lines] == ["carol removed 4 articles"]
    assert re.findall(r"Reason: (\w+)", page) == ["Rude"] * 2 + ["Spam"] * 4
    assert "<summary><span>" not in Client().get("/moderation/?action=remove").text, "a filter folds nothing"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("member=eve", ["Spam 31", "Spam 15"]),
        ("member=ALICE", ["Old news"]),
        ("group=python", ["Old news"]),
        ("action=remove&actor=Carol&member=&group=", ["Old news"]),
        ("action=lock", []),
        ("actor=nobody", []),
    ],
)
def test_readers_filter_the_log(filled_log, query, shown):
    page = Client().get(f"/moderation/?{query}")

    assert re.findall('<p class="reason">Reason: (.*?)</p>', page.text) == shown
    assert ("No entries match." in page.text) == (not shown)
    assert "Search older entries" not in page.text


def test_a_filter_goes_on_from_where_it_came(filled_log, monkeypatch):
    monkeypatch.setattr(log, "ENTRIES_SEARCHED", 10)
    reasons, address, pages = [], "?action=ban&actor=carol", 0
    while address and pages < 20:
        pages += 1
        page = Client().get(f"/moderation/{html.unescape(address)}").text
        reasons += re.findall('<p class="reason">Reason: (.*?)</p>', page)
        (address,) = re.findall(r'href="(\?[^"]*rest=[^"]*)"', page) or [""]
        assert ("Searched back to" in page) == bool(address)

    assert pages > 3
    assert reasons == [f"Spam {n}" for n in reversed(range(32))]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("action=sing", 400),
        ("group=none", 400),
        (f"member={'x' * 61}", 400),
        ("actor=%00", 400),
        *(
            (f"action=ban&rest={rest}", 404)
            for rest in ("", "x", "-1", "1.", "1.2.3", "9" * 13, "1" + ".1" * 2000)
        ),
    ],
)
def test_a_filter_of_the_log_that_makes_no_sense_is_refused(filled_log, query, status):
    page = Client().get(f"/moderation/?{query}")

    assert page.status_code == status
    if status == 400:
        assert 'role="alert"' in page.text
        assert "Spam" not in page.text


def test_readers_choose_from_every_action_of_the_log():
    assert ACTIONS.keys() == set(Action)


def test_an_act_that_cannot_be_undone_asks_exactly_once(site_store, bob, carol):
    note = MemberNote.objects.create(member=bob, text="A secret")
    newcomer = WaitingAccount.objects.create(user=member("newcomer", is_active=False))
    acts = {
        f"/users/bob/moderation/notes/{note.pk}/delete/": {},
        "/moderation/members/decide/": {"decline": str(newcomer.pk)},
    }
    browser = browser_of(carol)
    for address, fields in acts.items():
        question = browser.post(address, fields)
        assert question.status_code == 200
        assert (MemberNote.objects.count(), WaitingAccount.objects.count()) == (1, 1)
        sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', question.text))
        del sent["csrfmiddlewaretoken"]
        acts[address] = sent
    for address, sent in acts.items():
        assert browser.post(address, sent).status_code == 302
    assert (MemberNote.objects.count(), WaitingAccount.objects.count()) == (0, 0)


def test_neither_enter_nor_a_slip_removes_from_the_queue(site_store, article, bob, carol):
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    page = browser_of(carol).get("/moderation/queue/").text
    form = re.search(r'<form[^>]*action="/moderation/queue/decide/".*?</form>', page, re.DOTALL)[0]

    assert re.search("<button[^>]*>", form)[0] == '<button type="submit" disabled hidden>', "the default button"
    unfolded = re.sub("<details.*?</details>", "", form, flags=re.DOTALL)
    assert re.findall(r'name="decision" value="(\w+)"', unfolded) == ["keep", "remove"]
    assert re.findall(r'name="decision" value="(\w+)"', form) == ["ban", "keep", "remove"]


def test_a_page_with_a_counted_line_has_the_script_that_counts(site_store, article, bob, carol):
    pages = ("rules/new/", "hosts/", "groups/python/", "groups/python/bans/", "groups/python/moderators/")

    for path in ("/users/bob/moderation/", *(f"/moderation/{one}" for one in pages)):
        page = browser_of(carol).get(path).text
        assert "data-counter" in page, path
        assert "js/posting." in page, path
