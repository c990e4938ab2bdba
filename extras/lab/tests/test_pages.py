"""The ranking lab: previewing, applying, rolling back, and everything that is refused."""

import re
from html import unescape

import pytest
from django.test import Client

from articles.domain.articles import Choice, ImportedArticle
from articles.domain.lists import Order
from articles.domain.moderation_log import Actor
from articles.domain.ranking import Parameters
from articles.web import wiring
from tests.factories import browser_of
from tests.internals import parameters as tuning
from tests.pages.test_ended_sessions import log_in
from tests.store_state import RANKING_KEY, ranking_values

DAY = 86400
DAVE = Actor(77, "dave")
VALUES = {"votes_per_day": "200", "alpha": "1", "beta": "1.2", "base": "2", "gamma": "1.5", "list": "score"}


def text_of(response):
    text = re.sub(r"<(script|style|title).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


def html_of(response):
    return unescape(response.content.decode())


def value_of(response, name, form="knobs"):
    """Return the value of an input of the form."""
    part = html_of(response).partition(f'id="{form}"')[2]
    return re.search(rf'name="{name}"[^>]*?value="([^"]*)"', part.partition("</form>")[0])[1]


def post_articles(site_store, count=40, votes=lambda n: n, days=lambda n: n / 10):
    now = site_store.store.now()
    site_store.imports.add(
        [
            ImportedArticle(f"Article {n}", f"https://example.org/{n}", 5, "bob", now - days(n) * DAY, votes(n), 0)
            for n in range(count)
        ]
    )


def current_parameters(site_store):
    return site_store.parameters.get_current()


def apply_as_dave(site_store, parameters, reason="Mine are better"):
    site_store.parameters.apply(
        parameters, expected=site_store.parameters.get_state().version, actor=DAVE, reason=reason
    )
    while not site_store.parameters.advance():
        pass


def scores(site_store):
    return ranking_values(site_store, Order.SCORE)


# Previews


def test_the_lab_starts_with_the_current_parameters(site_store, carol):
    apply_as_dave(site_store, Parameters(27, 2, 0.1, 3.25, 1.4))

    page = browser_of(carol).get("/lab/")

    found = {name: value_of(page, name) for name in ("votes_per_day", "alpha", "beta", "base", "gamma")}
    assert found == {"votes_per_day": "27", "alpha": "2", "beta": "0.1", "base": "3.25", "gamma": "1.4"}
    assert "These are the current parameters." in text_of(page)
    assert "Apply to the whole site" not in text_of(page)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("votes_per_day", bad) for bad in ("0", "86401", "1.5", "", "many", "-3", "9" * 5000)),
        *(("alpha", bad) for bad in ("-0.1", "100.1", "", "nan", "inf", "1e999", "x")),
        *(("beta", bad) for bad in ("-1", "101", "", "NaN")),
        *(("base", bad) for bad in ("0", "0.09", "48.1", "", "two")),
        *(("gamma", bad) for bad in ("0.99", "2.51", "", "-1.5", "１．５x")),
        *(("half_life", bad) for bad in ("0", "0.03", "48.5", "-1", "nan", "soon")),
        *(("list", bad) for bad in ("time", "", RANKING_KEY, "{s1}:score")),
    ],
)
def test_invalid_values_are_reported_at_their_field_and_kept(site_store, carol, name, value):
    response = browser_of(carol).get("/lab/", VALUES | {"gamma": "1.7", name: value})

    assert response.status_code == 400
    assert f'id="id_{name}_error"' in html_of(response)
    if name not in ("list",) and value:
        assert value_of(response, name) == value
    if name != "gamma":
        assert value_of(response, "gamma") == "1.7"
    assert 'id="preview"' not in html_of(response)


def test_the_preview_shows_both_orders_and_how_far_each_article_moves(site_store, carol):
    # A day-old article with 100 votes, against three from today with 1, 2 and 3: at 200 votes a day it ranks last.
    post_articles(site_store, 3, votes=lambda n: n + 1, days=lambda n: 0.1 * (n + 1))
    post_articles(site_store, 1, votes=lambda n: 100, days=lambda n: 1.01)

    page = browser_of(carol).get("/lab/?votes_per_day=50")

    before, after = (re.findall(r'class="title"[^>]*>(.*?)</a>', part) for part in halves(page))
    assert before == ["Article 0", "Article 1", "Article 2", "Article 0"]
    assert after == ["Article 0", "Article 0", "Article 1", "Article 2"]
    told = re.sub(r"<[^>]+>", "", halves(page)[1])
    assert "▲3up 3 places" in told
    assert told.count("▼1down 1 place") == 3
    assert "Of the first 4 articles, 4 would change rank." in text_of(page)
    assert "432" in text_of(page)
    assert "1,728" in text_of(page)
    assert "4 days" in text_of(page)


def halves(page):
    _, _, both = html_of(page).partition('class="both"')
    return both.partition('id="then"')[0], both.partition('id="then"')[2].partition("</ol>")[0]


# Proposals


def test_the_lab_proposes_votes_per_day_that_fit_recent_articles(site_store, carol):
    post_articles(site_store, 40, votes=lambda n: n + 1, days=lambda n: 2)

    page = browser_of(carol).get("/lab/?gamma=1.7")

    assert "75% of the 40 articles of the last 30 days have at most this many points" in text_of(page)
    address = re.search(r'class="proposal" href="([^"]+)"[^>]*>30 votes per day', html_of(page))[1]
    filled = browser_of(carol).get(address)
    assert (value_of(filled, "votes_per_day"), value_of(filled, "gamma")) == ("30", "1.7")


# The weight that adjusts itself


@pytest.fixture
def auto(site_store):
    """A site whose articles fit 30 votes a day, with VOTES_PER_DAY set to auto."""
    post_articles(site_store, 40, votes=lambda n: n + 1, days=lambda n: 2)
    return site_store


def test_automatic_adjustments_are_in_the_history_and_in_the_public_log(auto, carol):
    assert auto.fit_weight() == 30

    history, log = text_of(browser_of(carol).get("/lab/")), text_of(Client().get("/moderation/"))

    assert "Version 2 the site itself" in history
    assert "votes per day 200 → 30" in history
    assert "votes per day: 200 → 30" in log
    assert "adjusted how much a vote counts" in log
    assert "“Votes per day” is how many votes outweigh one day of age." in log
    assert "it is based on the points of 40 recent articles." in log


def test_moderators_can_return_to_the_automatic_weight(auto, carol):
    apply_as_dave(auto, Parameters(votes_per_day=90))
    browser = browser_of(carol)
    page = browser.get("/lab/")
    assert "A moderator set the votes per day, so the site no longer adjusts them." in text_of(page)
    assert 'action="/lab/follow/"' in html_of(page)

    for _sent_twice in range(2):
        answer = browser.post("/lab/follow/", {"version": "2"}, follow=True)
        assert answer.status_code == 200

    state = auto.parameters.get_state()
    assert (state.parameters.votes_per_day, state.version, state.is_chosen) == (30, 3, False)
    assert auto.parameters.list_changes()[0].actor_name == "carol"
    assert "Reason: Automatic votes per day resumed" in text_of(Client().get("/moderation/"))


def test_a_configured_weight_cannot_be_made_automatic(site_store, carol, settings):
    settings.VOTES_PER_DAY = 200
    wiring.forget_repositories()
    apply_as_dave(site_store, Parameters(votes_per_day=90))

    page = browser_of(carol).get("/lab/")
    answer = browser_of(carol).post("/lab/follow/", {"version": "2"})

    assert "/lab/follow/" not in html_of(page)
    assert "The site adjusts" not in text_of(page)
    assert (answer.status_code, site_store.parameters.get_state().is_chosen) == (400, True)


# Applying


def apply(browser, version=1, **changes):
    fields = VALUES | {"reason": "a small site", "version": str(version)} | changes
    return browser.post("/lab/apply/", fields)


def test_applied_parameters_rank_the_site_and_are_logged(site_store, carol):
    post_articles(site_store)

    response = apply(browser_of(carol), votes_per_day="20", gamma="1.3")

    assert response.headers["Location"] == "/lab/?list=score"
    assert current_parameters(site_store) == Parameters(20, gamma=1.3)
    top = site_store.lists.get_page(Order.SCORE).articles
    assert [a.score for a in top] == sorted((a.posted_at + 4320 * a.points for a in top), reverse=True)
    log = text_of(Client().get("/moderation/"))
    for part in ("carol", "changed the ranking parameters", "200 → 20", "1.5 → 1.3", "a small site"):
        assert part in log
    assert list(site_store.audit.run()) == []


def test_a_form_sent_twice_is_applied_once_without_an_error(site_store, carol):
    answers = [apply(browser_of(carol), votes_per_day="20") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert site_store.parameters.get_state().version == 2
    assert apply(browser_of(carol), votes_per_day="20", reason="another").status_code == 409


@pytest.mark.parametrize("reason", ["", "  ", "\u200b", "x" * 501])
def test_a_reason_is_required_and_the_values_are_kept(site_store, carol, reason):
    response = apply(browser_of(carol), votes_per_day="20", reason=reason)

    assert response.status_code == 400
    assert 'id="id_reason_error"' in html_of(response)
    assert value_of(response, "votes_per_day") == "20"
    assert value_of(response, "votes_per_day", "outcome") == "20"
    assert current_parameters(site_store) == Parameters()


@pytest.mark.parametrize("version", ["", "x", "0", "-1"])
def test_a_form_without_its_version_is_refused(site_store, carol, version):
    response = apply(browser_of(carol), version, votes_per_day="20")

    assert response.status_code == 400
    assert "This form is incomplete." in text_of(response)
    assert current_parameters(site_store) == Parameters()


def test_the_second_of_two_moderators_gets_a_conflict_and_changes_nothing(site_store, carol):
    apply_as_dave(site_store, Parameters(50), "Fifty is right")

    response = apply(browser_of(carol), 1, votes_per_day="20")

    assert apply(browser_of(carol), 1, votes_per_day="50").status_code == 409, "the same values"
    assert response.status_code == 409
    told = text_of(response)
    assert "dave applied other parameters in the meantime (just now): “Fifty is right”." in told
    assert current_parameters(site_store) == Parameters(50)
    assert value_of(response, "votes_per_day") == "20"
    assert value_of(response, "reason", "outcome") == "a small site"
    assert "votes per day 50 → 20" in told

    again = apply(browser_of(carol), value_of(response, "version", "outcome"), votes_per_day="20")
    assert again.status_code == 302
    assert current_parameters(site_store) == Parameters(20)


@pytest.fixture
def small_steps(monkeypatch):
    """Ten articles are scored by each step of a change, and each request takes a step."""
    monkeypatch.setattr(tuning, "ARTICLES_PER_STEP", 10)
    monkeypatch.setattr("extras.lab.pages.PATIENCE", 0)
    monkeypatch.setattr("extras.lab.pages._VIEW_PATIENCE", 0)


@pytest.mark.needs("few shards")
@pytest.mark.usefixtures("small_steps")
def test_a_change_in_progress_blocks_others(site_store, carol):
    post_articles(site_store)
    site_store.parameters.apply(Parameters(50), expected=1, actor=DAVE, reason="Fifty")

    response = apply(browser_of(carol), 1, votes_per_day="20")

    assert response.status_code == 409
    assert "Another change is being applied (10 of 40 articles scored)." in text_of(response)
    assert value_of(response, "votes_per_day") == "20"
    assert site_store.parameters.get_state().applying.parameters == Parameters(50)


@pytest.mark.needs("few shards")
@pytest.mark.usefixtures("small_steps")
def test_a_long_change_shows_its_progress_and_continues(site_store, carol):
    post_articles(site_store)
    browser = browser_of(carol)

    assert apply(browser, votes_per_day="20").status_code == 302
    first = browser.get("/lab/?votes_per_day=20")
    assert re.search(r"[123]\d of 40 articles scored", text_of(first))
    assert "Apply to the whole site" not in text_of(first)
    assert current_parameters(site_store) == Parameters()

    for _ in range(5):
        page = browser.get("/lab/", follow=True)

    assert current_parameters(site_store) == Parameters(20)
    assert "articles scored" not in text_of(page)
    assert list(site_store.audit.run()) == []


# Rollbacks


def test_one_click_restores_the_exact_previous_scores(site_store, carol, article, bob):
    post_articles(site_store)
    site_store.votes.cast(article, bob.pk, Choice.VOTE)
    before, browser = scores(site_store), browser_of(carol)
    apply(browser, votes_per_day="7")
    assert scores(site_store) != before

    response = browser.post("/lab/rollback/", {"version": "2"})

    assert response.headers["Location"] == "/lab/"
    assert scores(site_store) == before
    assert current_parameters(site_store) == Parameters()
    newest = site_store.parameters.list_changes()[0]
    assert (newest.version, newest.actor_name, newest.reason) == (3, "carol", "Reverted to version 1")


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"version": "1", "to": "1"}, 409, "dave applied other parameters"),
        ({"version": "2", "to": "2"}, 400, "These parameters have already been applied."),
        ({"version": "2", "to": "9"}, 400, "That version does not exist"),
        ({"version": "2", "to": "x"}, 400, "This form is incomplete."),
        ({"version": "", "to": "1"}, 400, "This form is incomplete."),
        ({}, 400, "This form is incomplete."),
    ],
)
def test_an_invalid_rollback_is_refused(site_store, carol, fields, status, told):
    apply_as_dave(site_store, Parameters(50))

    response = browser_of(carol).post("/lab/rollback/", fields)

    assert response.status_code == status
    assert told in text_of(response)
    assert current_parameters(site_store) == Parameters(50)


def test_crawlers_stay_away_and_members_learn_nothing(site_store, bob):
    assert "\nDisallow: /lab/\n" in Client().get("/robots.txt").text
    assert browser_of(bob).get("/lab/").status_code == 403


@pytest.mark.parametrize(
    ("path", "fields", "button", "page"),
    [
        ("/lab/rollback/", {"version": "1", "to": "1"}, "Revert to version 1", "/lab/"),
        (
            "/lab/apply/",
            {"list": "hot", "gamma": "2", "reason": "because", "version": "1"},
            "Apply to the whole site: “because”",
            "/lab/?list=hot&gamma=2",
        ),
    ],
)
def test_a_form_of_a_stale_page_or_an_ended_session_can_be_sent_again(
    site_store, carol, path, fields, button, page
):
    stale = browser_of(carol, strict=True).post(path, fields)
    assert stale.status_code == 403
    assert f'<button type="submit">{button}</button>' in stale.text

    browser = Client()
    assert log_in(browser, browser.post(path, fields, follow=True), "carol") == page
    assert browser.get(path).status_code == 405
