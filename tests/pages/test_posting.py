import re

from django.test import Client

from articles.web.forms import fields
from tests.factories import browser_of
from tests.store_state import make_older


def post(browser, **fields):
    return browser.post("/post/", {"title": "A title", "link": "https://example.org/new"} | fields)


def errors(response):
    return re.findall(r"<li>([^<]+)</li>", response.content.decode())


def test_posting_adds_the_posters_own_vote_and_the_groups(site_store, alice):
    site_store.groups.create("python", "Python")
    site_store.groups.create("web", "Web")

    response = post(browser_of(alice), groups=["python", "web"])

    number = int(re.fullmatch(r"/articles/(\d+)/", response.headers["Location"])[1])
    article = site_store.articles.get(number, alice.pk)
    assert (article.title, article.link, article.poster_name) == ("A title", "https://example.org/new", "alice")
    assert (article.votes, article.choice, article.groups) == (1, "vote", ("python", "web"))


def test_groups_are_typed_by_title_or_address_and_suggested_if_they_have_no_box(site_store, alice, monkeypatch):
    monkeypatch.setattr(fields, "MOST_GROUP_BOXES", 1)
    for slug, title in (("python", "Python"), ("web", "Web"), ("learning", "Machine learning"), ("a", "A, B")):
        site_store.groups.create(slug, title)
    browser = browser_of(alice)

    refused = post(browser, title=" ", groups=["python", "Machine  LEARNING， web nope"]).text
    response = post(browser, groups=["python", "Machine  LEARNING， web"])
    whole = post(browser, link="https://example.org/other", groups=["", "a, b"])

    assert 'value="Python, Machine  LEARNING， web nope"' in refused
    assert re.findall(r'<option value="([^"]*)">', refused) == ["Machine learning", "Python", "Web"]
    assert groups_of(site_store, response) == ("learning", "python", "web")
    assert groups_of(site_store, whole) == ("a",)


def groups_of(site_store, response):
    return tuple(sorted(site_store.articles.get(int(response.headers["Location"].split("/")[2])).groups))


def test_every_error_is_next_to_its_field_and_the_input_is_kept(site_store, alice):
    site_store.groups.create("python", "Python")

    response = post(browser_of(alice), title=" ", link="javascript:alert(1)", groups=["python", "nope"])

    text = response.content.decode()
    assert response.status_code == 400
    assert errors(response) == [
        "The link must start with http:// or https://.",
        "Enter a title.",
        "There is no group named nope.",
    ]
    assert 'value="javascript:alert(1)"' in text
    assert re.search(r'value="python"[^>]*checked', text)
    assert 'value="nope"' in text
    assert site_store.imports.count() == 0


def test_an_article_form_sent_twice_posts_once_without_an_error(site_store, alice):
    browser = browser_of(alice)
    first = post(browser)["Location"]

    response = browser.post("/post/", {"title": "A title", "link": "https://example.org/new"}, follow=True)

    assert response.redirect_chain == [(first, 302)]
    assert "has already been posted" not in response.text
    make_older(site_store, int(first.split("/")[2]), 61)
    later = browser.post("/post/", {"title": "A title", "link": "https://example.org/new"}, follow=True)
    assert "has already been posted" in later.text


def test_the_poster_can_edit_within_fifteen_minutes(site_store, article, alice):
    fields = {"title": "A better title", "link": "https://example.org/better"}

    response = browser_of(alice).post(f"/articles/{article}/edit/", fields, follow=True)

    found = site_store.articles.get(article)
    assert response.redirect_chain == [(f"/articles/{article}/", 302)]
    assert "Your changes have been saved." in response.text
    assert (found.title, found.link) == ("A better title", "https://example.org/better")


def test_after_fifteen_minutes_the_form_says_so_and_keeps_the_input(site_store, article, alice):
    make_older(site_store, article, 901)

    response = browser_of(alice).post(
        f"/articles/{article}/edit/", {"title": "Late", "link": "https://example.org/a"}
    )

    assert response.status_code == 400
    assert "can no longer be edited" in response.content.decode()
    assert 'value="Late"' in response.content.decode()
    assert site_store.articles.get(article).title == "A title"


def test_an_edit_to_another_articles_link_is_refused_at_the_field(site_store, article, alice):
    post(browser_of(alice))

    response = browser_of(alice).post(
        f"/articles/{article}/edit/", {"title": "A title", "link": "https://example.org/new"}
    )

    assert errors(response) == ["Another article with this link was posted recently."]
    assert site_store.articles.get(article).link == "https://example.org/a"


def test_a_poster_changes_groups_while_editing(site_store, alice):
    for slug in ("python", "redis"):
        site_store.groups.create(slug, slug.title())
    article_id = int(post(browser_of(alice), groups=["python"])["Location"].split("/")[2])
    site_store.groups.assign(article_id, ["redis"])
    fields = {"title": "A title", "link": "https://example.org/new", "was": "python"}

    page = browser_of(alice).get(f"/articles/{article_id}/edit/").text
    browser_of(alice).post(f"/articles/{article_id}/edit/", fields | {"groups": [""]})

    assert re.search(r'value="python"[^>]*checked', page)
    assert site_store.articles.get(article_id).groups == ("redis",)
    assert "removed: " in browser_of(None).get(f"/articles/{article_id}/").text


def test_groups_of_an_edit_follow_the_rules_of_posting(site_store, article, alice, carol):
    slugs = [f"group-{n}" for n in range(6)]
    for slug in slugs:
        site_store.groups.create(slug, slug)
    fields = {"title": "A title", "link": "https://example.org/a", "was": ""}

    response = browser_of(alice).post(f"/articles/{article}/edit/", fields | {"groups": slugs})

    assert errors(response) == ["Choose at most 5 groups."]
    unknown = browser_of(alice).post(f"/articles/{article}/edit/", fields | {"groups": ["nope"]})
    assert errors(unknown) == ["There is no group named nope."]
    assert 'name="groups"' not in browser_of(carol).get(f"/articles/{article}/edit/").text


def test_a_poster_withdraws_an_article_and_a_moderator_restores_it(site_store, article, alice, carol):
    browser = browser_of(alice)
    assert f'href="/articles/{article}/withdraw/"' in browser.get(f"/articles/{article}/").text
    assert "You can withdraw your article until" in browser.get(f"/articles/{article}/withdraw/").text

    response = browser.post(f"/articles/{article}/withdraw/", follow=True)

    assert "Your article has been withdrawn." in response.text
    page = Client().get(f"/articles/{article}/").text
    assert "This article was withdrawn by its poster." in page
    assert "alice</a> withdrew the article" in page
    assert "removed by a moderator" not in page
    assert "A title" not in Client().get("/").text
    browser_of(carol).post(f"/articles/{article}/restore/", {"reason": "worth reading"})
    assert site_store.articles.get(article).removed is None


def test_withdrawing_is_for_the_poster_and_within_the_window(site_store, article, alice, mallory, carol):
    address = f"/articles/{article}/withdraw/"
    for other in (mallory, carol):
        assert browser_of(other).post(address).status_code == 403
        assert address not in browser_of(other).get(f"/articles/{article}/").text
    make_older(site_store, article, 901)

    assert address not in browser_of(alice).get(f"/articles/{article}/").text
    assert (
        "You can no longer withdraw this article. Please ask a moderator." in browser_of(alice).get(address).text
    )
    assert "Please ask a moderator." in browser_of(alice).post(address, follow=True).text
    assert site_store.articles.get(article).removed is None
