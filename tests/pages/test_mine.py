"""What a member alone sees: own lists, saved articles, the export."""

import json

import pytest
from django.test import Client

from accounts.models import Token
from articles.domain import Actor, Choice
from articles.errors import SavedFull
from articles.refusals import sentence_of
from articles.repository.members import Members
from tests.pages.conftest import browser_of

LISTS = ["/mine/voted/", "/mine/opposed/", "/mine/saved/"]


def ids(text: str) -> list[int]:
    import re

    return [int(found) for found in re.findall(r'<li class="row" id="article-(\d+)"', text)]


@pytest.fixture
def busy(site, article, alice, bob):
    """bob voted for one article, opposed another, saved a third; their ids."""
    others = [site.articles.post(alice.pk, "alice", f"T{n}", f"https://example.org/{n}").id for n in range(2)]
    site.votes.cast(article, bob.pk, Choice.VOTE)
    site.votes.cast(others[0], bob.pk, Choice.OPPOSE)
    site.members.save(bob.pk, others[1], wanted=True)
    return article, *others


def test_each_list_shows_the_members_own(busy, bob, alice):
    mine = browser_of(bob)

    assert [ids(mine.get(address).text) for address in LISTS] == [[one] for one in busy]
    assert ids(browser_of(alice).get("/mine/opposed/").text) == []


@pytest.mark.parametrize("address", [*LISTS, "/settings/data/", "/settings/delete/"])
def test_nobody_else_is_shown_anything_and_nothing_is_kept(busy, bob, address):
    assert Client().get(address)["Location"] == f"/login/?next={address}"

    answer = browser_of(bob).get(address)

    assert "no-store" in answer["Cache-Control"]
    assert address == "/settings/delete/" or answer["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize("address", LISTS)
def test_pages_that_there_are_not_are_404(busy, bob, address):
    for number in ("2", "0", "x"):
        assert browser_of(bob).get(address, {"page": number}).status_code == 404
    assert browser_of(bob).post(address).status_code == 405


def test_the_tabs_stand_on_the_own_page_only(busy, alice, bob):
    for browser, name, there in (
        (browser_of(bob), "bob", True),
        (browser_of(bob), "alice", False),
        (Client(), "bob", False),
    ):
        assert ('href="/mine/opposed/"' in browser.get(f"/users/{name}/").text) is there


def test_a_long_list_goes_on(site, alice, bob):
    for number in range(30):
        article = site.articles.post(alice.pk, "alice", "T", f"https://example.org/{number}").id
        site.members.save(bob.pk, article, wanted=True)
    mine = browser_of(bob)

    assert len(ids(mine.get("/mine/saved/").text)) == 25
    assert len(ids(mine.get("/mine/saved/?page=2").text)) == 5


# Saving


def save(browser, article, saved="save", back="/newest/"):
    return browser.post(f"/articles/{article}/save/", {"saved": saved, "next": back})


def test_an_article_is_saved_and_forgotten_from_its_row(site, article, bob):
    browser = browser_of(bob)
    assert 'value="save"' in browser.get("/newest/").text

    answer = save(browser, article)

    assert (answer.status_code, answer["Location"]) == (302, f"/newest/#article-{article}")
    for page in ("/newest/", f"/articles/{article}/", "/mine/saved/"):
        assert 'name="saved" value="forget" aria-pressed="true"' in browser.get(page).text
    save(browser, article, "forget")
    assert ids(browser.get("/mine/saved/").text) == []


def test_saving_needs_a_token_a_known_state_and_an_article(site, article, bob, carol):
    assert save(browser_of(bob, strict=True), article).status_code == 403
    assert save(browser_of(bob), article, "maybe").status_code == 400
    assert save(browser_of(bob), 999).status_code == 404
    assert browser_of(bob).get(f"/articles/{article}/save/").status_code == 405
    site.articles.remove(article, Actor(carol.pk, "carol"), "spam")
    assert save(browser_of(bob), article).status_code == 404
    assert save(browser_of(bob), article, "forget").status_code == 302


def save_by_script(browser, article, saved="save"):
    fields = {"saved": saved, "next": "/newest/"}
    return browser.post(f"/articles/{article}/save/", fields, headers={"Accept": "application/json"})


def test_a_script_is_told_in_words(site, article, bob, carol):
    browser = browser_of(bob)

    assert save_by_script(browser, article).json() == {"told": "Saved for later."}
    assert ids(browser.get("/mine/saved/").text) == [article]
    assert save_by_script(browser, article, "forget").json() == {"told": "No longer saved."}
    assert ids(browser.get("/mine/saved/").text) == []

    gone, logged_out = save_by_script(browser, 999), save_by_script(Client(), article)
    assert (gone.status_code, gone.json()) == (404, {"error": "There is no such article."})
    assert (logged_out.status_code, logged_out.json()) == (
        401,
        {
            "error": "You are logged out. Log in to save articles.",
            "address": f"/login/?next=%2Fnewest%2F%23article-{article}",
        },
    )
    site.articles.remove(article, Actor(carol.pk, "carol"), "spam")
    assert save_by_script(browser, article).json() == {"error": "This article was removed by a moderator."}


def test_a_script_is_told_that_no_more_can_be_saved(site, article, bob, monkeypatch):
    def refuse(*_who, **_wanted):
        raise SavedFull(1000)

    monkeypatch.setattr(Members, "save", refuse)

    answer = save_by_script(browser_of(bob), article)

    assert answer.status_code == 409
    assert answer.json()["error"] == sentence_of(SavedFull(1000))


def test_the_buttons_name_stays_when_an_article_is_saved(site, article, bob):
    browser, name = browser_of(bob), 'aria-label="Save “A title” for later"'
    assert name in browser.get("/newest/").text
    save(browser, article)
    assert name in browser.get("/newest/").text


def test_readers_log_in_first_and_see_no_button(site, article):
    answer = save(Client(enforce_csrf_checks=True), article)

    assert answer["Location"] == f"/login/?next=%2Fnewest%2F%23article-{article}"
    assert 'name="saved"' not in Client().get("/newest/").text


def test_the_button_carries_the_token_its_form_needs(site, article, bob):
    import re

    browser = browser_of(bob, strict=True)
    form = re.search(r'<form class="saving".*?</form>', browser.get("/newest/").text, re.DOTALL)[0]
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]

    answer = browser.post(f"/articles/{article}/save/", {"saved": "save", "csrfmiddlewaretoken": token})

    assert answer.status_code == 302


def test_saving_too_many_is_told(site, article, bob, monkeypatch):
    object.__setattr__(site.rules, "max_saved", 0)

    told = browser_of(bob).post(f"/articles/{article}/save/", {"saved": "save"}, follow=True).text

    assert "You have saved as many articles as one can." in told


# Groups


def test_a_groups_page_hides_it_and_shows_it_again(site, article, bob):
    for browser in (browser_of(bob), Client()):
        assert 'name="hide" value="python"' in browser.get("/groups/python/").text
        browser.post("/preferences/", {"hide": "python", "next": "/groups/python/"})
        assert 'name="show" value="python"' in browser.get("/groups/python/").text


def test_readers_without_account_show_a_group_again_from_any_list(site, article):
    reader = Client()
    reader.post("/preferences/", {"hide": "python"})

    assert 'name="show" value="python"' in reader.get("/newest/").text


# The export


def export(user) -> dict:
    answer = browser_of(user).get("/settings/data/")
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{user.username}-20')
    return json.loads(answer.getvalue())


def test_the_export_holds_what_the_site_keeps_about_the_member(site, busy, bob, alice, carol):
    bob.email, bob.theme, bob.hidden_groups = "bob@example.org", "dark", "python"
    bob.save()
    _token, plaintext = Token.objects.issue(bob, "laptop 笔记本")
    mine = site.articles.post(bob.pk, "bob", "标题 <b>", "https://example.org/mine", ["python"]).id
    site.articles.edit(mine, Actor(bob.pk, "bob"), "New 标题", "https://example.org/mine", moderator=False)
    site.articles.remove(mine, Actor(carol.pk, "carol"), "Spam")

    found = export(bob)

    assert found["account"]["name"], found["account"]["email"] == ("bob", "bob@example.org")
    assert found["settings"] == {
        "language": "",
        "theme": "dark",
        "keyboard": True,
        "hidden_groups": ["python"],
    }
    (posted,) = found["posted"]
    assert (posted["title"], posted["votes"], posted["removed"]) == ("New 标题", 1, "Spam")
    assert [one["id"] for one in found["voted"]] == [mine, busy[0]]
    assert [[one["id"] for one in found[name]] for name in ("opposed", "saved")] == [[busy[1]], [busy[2]]]
    assert [token["name"] for token in found["tokens"]] == ["laptop 笔记本"]
    assert [entry["action"] for entry in found["moderated"]] == ["edit"]
    assert plaintext not in json.dumps(found)
    assert bob.password not in json.dumps(found)
    assert bob.tokens.get().digest not in json.dumps(found)


def test_an_export_of_somebody_new_is_whole_too(site, bob):
    found = export(bob)

    assert [found[name] for name in ("posted", "voted", "opposed", "saved", "tokens", "moderated")] == [[]] * 6


def test_an_export_of_many_articles_leaves_none_out(site, bob):
    articles = {site.articles.post(bob.pk, "bob", f"T{n}", f"https://example.org/{n}").id for n in range(450)}

    found = export(bob)

    assert {one["id"] for one in found["posted"]} == articles == {one["id"] for one in found["voted"]}
    assert len(found["posted"]) == 450
