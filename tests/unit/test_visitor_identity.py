"""How the site identifies a visitor and detects a program."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given, strategies as st

from articles.domain.readership import Suspicion
from articles.web import wiring
from articles.web.readership.record import digest, suspicion_of
from tests.internals import views_per_article
from tests.rules import default_rules
from voting_site.configuration import variables
from voting_site.configuration.loading import load

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)


def test_a_client_that_names_no_browser_is_a_bot():
    assert suspicion_of({}) is Suspicion.BOT


@pytest.mark.parametrize("agent", [FIREFOX, IPHONE])
def test_browsers_are_not_suspect(agent):
    assert suspicion_of({"User-Agent": agent}) is None


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Sec-Purpose", "prefetch"), ("Sec-Purpose", "prefetch;prerender"),
        ("Sec-Purpose", "prefetch;anonymous-client-ip"), ("Purpose", "Prefetch"),
        ("X-Purpose", "preview"), ("X-Moz", "prefetch"),
    ],
)  # fmt: skip
def test_a_page_loaded_before_it_is_read_is_a_prefetch(header, value):
    assert suspicion_of({"User-Agent": FIREFOX, header: value}) is Suspicion.PREFETCH
    assert suspicion_of({"User-Agent": FIREFOX, header: "navigate"}) is None


def test_a_bot_stays_a_bot_when_it_prefetches():
    assert suspicion_of({"User-Agent": "curl/8.5.0", "Purpose": "prefetch"}) is Suspicion.BOT


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_digests_have_one_size_and_differ_if_their_parts_differ(some, others):
    assert re.fullmatch("[0-9a-f]{16}", digest(*some))
    assert (digest(*some) == digest(*others)) == (some == others)


def test_the_key_of_another_site_gives_different_digests(settings):
    before = digest("member", "1")
    settings.SECRET_KEY = "another"

    assert digest("member", "1") != before


def test_the_rules_follow_the_settings(settings):
    settings.VIEWS_PER_NETWORK = 70

    found = wiring.rules()

    assert (views_per_article(found), found.views_per_network) == (7, 70)


def test_without_settings_the_rules_use_the_default_configuration(tmp_path, monkeypatch):
    for variable in variables.VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)

    values = load(tmp_path)

    found = default_rules(records_ballots=True)

    assert wiring.rules() == found
    assert (found.voting_window, found.votes_per_day, found.per_page) == (7 * 86400, None, 25)
    assert (found.repost_window, found.edit_window, found.archive_after) == (48 * 3600, 15 * 60, 90 * 86400)
    assert (values["TRUSTED_PROXIES"], values["METRICS_TOKEN"]) == ([], "")
    assert values["TICK_SECONDS"] == 60


def test_proxies_are_parsed_as_networks(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUSTED_PROXIES", " 127.0.0.1, 10.0.0.0/8 ,unix,::1")

    assert load(tmp_path)["TRUSTED_PROXIES"] == ["127.0.0.1/32", "10.0.0.0/8", "unix", "::1/128"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TRUSTED_PROXIES", "10.0.0.1/8"), ("TRUSTED_PROXIES", "127.0.0.1,proxy.example"),
        ("VIEWS_PER_NETWORK", "9"), ("TICK_SECONDS", "9"), ("TICK_SECONDS", "601"),
    ],
)  # fmt: skip
def test_an_invalid_value_prevents_the_start_and_is_named(tmp_path, monkeypatch, name, text):
    monkeypatch.setenv(name, text)

    with pytest.raises(ImproperlyConfigured, match=rf"^{name}=.*\.$"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("site", "mode", "dest", "suspect"),
    [
        ("cross-site", "no-cors", "image", True), ("cross-site", "navigate", "iframe", True),
        ("cross-site", "no-cors", "empty", True), ("same-site", "no-cors", "script", True),
        ("cross-site", "navigate", "document", False), ("none", "navigate", "document", False),
        ("same-origin", "no-cors", "empty", False),
    ],
)  # fmt: skip
def test_a_request_made_in_the_background_by_another_site_is_a_prefetch(site, mode, dest, suspect):
    told = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}

    assert suspicion_of({"User-Agent": FIREFOX} | told) is (Suspicion.PREFETCH if suspect else None)
