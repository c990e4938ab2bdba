"""Addresses that are the same on every site: for reports of vulnerabilities, password managers and directories."""

from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft4Validator

from articles.configuration.kinds import BadSetting
from articles.views import well_known
from tests.factories import browser_of, member, post
from voting_site.configuration.kinds import KINDS

COUNT = {"type": "integer", "minimum": 0}
SERVICE = {"type": "array", "items": {"enum": ["atom1.0", "rss2.0"]}}
PROTOCOLS = (
    "activitypub", "buddycloud", "dfrn", "diaspora", "libertree", "ostatus", "pumpio", "tent", "xmpp", "zot",
)  # fmt: skip


def exact(required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


NODEINFO = exact(
    ["version", "software", "protocols", "services", "openRegistrations", "usage", "metadata"],
    version={"enum": ["2.1"]},
    software=exact(
        ["name", "version"],
        name={"type": "string", "pattern": "^[a-z0-9-]+$"},
        version={"type": "string"},
        repository={"type": "string"},
        homepage={"type": "string"},
    ),
    protocols={"type": "array", "items": {"enum": list(PROTOCOLS)}},
    services=exact(["inbound", "outbound"], inbound=SERVICE, outbound=SERVICE),
    openRegistrations={"type": "boolean"},
    usage=exact(
        ["users"],
        users=exact([], total=COUNT, activeHalfyear=COUNT, activeMonth=COUNT),
        localPosts=COUNT,
        localComments=COUNT,
    ),
    metadata={"type": "object"},
)
"""What NodeInfo 2.1 demands, but for its least number of protocols: the site federates with none, and says so."""


@pytest.fixture(autouse=True)
def _counted_anew():
    well_known._members.forget()


def test_a_site_with_a_contact_says_where_to_report_a_vulnerability(site_store, settings):
    settings.SECURITY_CONTACT = "mailto:security@example.org"

    answer = browser_of().get("/.well-known/security.txt")

    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert fields.pop("Contact") == "mailto:security@example.org"
    left = datetime.strptime(fields.pop("Expires"), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) - datetime.now(UTC)
    assert timedelta(days=90) < left < timedelta(days=365)
    assert fields == {
        "Preferred-Languages": "en, zh-Hans, zh-Hant",
        "Canonical": "http://testserver/.well-known/security.txt",
    }


def test_a_site_without_a_contact_has_no_such_file(site_store):
    assert browser_of().get("/.well-known/security.txt").status_code == 404


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("security@example.org", "mailto:security@example.org"),
        ("mailto:security@example.org", "mailto:security@example.org"),
        ("https://example.org/report?to=us", "https://example.org/report?to=us"),
        ("http://example.org/", None), ("https://", None), ("https://example.org/a b", None),
        ("javascript:alert(1)", None), ("Us <us@example.org>", None),
        ("us@example.org,you@example.org", None), ("us", None), ("us@example.org\nExpires: never", None),
    ],
)  # fmt: skip
def test_a_contact_is_one_mail_address_or_page(typed, address):
    kind = KINDS["contact"]
    if address is None:
        with pytest.raises(BadSetting):
            kind.parse("SECURITY_CONTACT", typed)
    else:
        assert kind.parse("SECURITY_CONTACT", typed) == address


def test_password_managers_are_led_to_the_page(site_store, settings, alice):
    for browser in (browser_of(), browser_of(alice)):
        answer = browser.get("/.well-known/change-password")
        assert (answer.status_code, answer["Location"]) == (302, "/password/")
    settings.PASSWORDS = False
    assert browser_of(alice).get("/.well-known/change-password").status_code == 404
    assert browser_of().get("/.well-known/resource-that-should-not-exist").status_code == 404


def test_a_site_tells_nothing_of_itself_unless_its_owner_wants(site_store, settings):
    assert browser_of().get("/.well-known/nodeinfo").status_code == 404
    assert browser_of().get("/nodeinfo/2.1").status_code == 404
    settings.NODEINFO = True
    assert browser_of().get("/nodeinfo/2.1").status_code == 200
    settings.READING = "members"
    assert browser_of().get("/.well-known/nodeinfo").status_code == 404
    assert browser_of().get("/nodeinfo/2.1").status_code == 404


def test_what_it_tells_is_valid_and_rounded(site_store, settings, alice):
    settings.NODEINFO, settings.SIGN_UP = True, "approval"
    for number in range(16):
        post(site_store, number)
        member(f"member{number}", last_login=datetime.now(UTC) - timedelta(days=20 * number))

    links = browser_of().get("/.well-known/nodeinfo").json()["links"]
    answer = browser_of().get(links[0]["href"].removeprefix("http://testserver"))

    assert links[0]["rel"] == "http://nodeinfo.diaspora.software/ns/schema/2.1"
    assert answer["Content-Type"].startswith("application/json; profile=")
    found = answer.json()
    Draft4Validator(NODEINFO).validate(found)
    assert (found["protocols"], found["openRegistrations"]) == ([], False)
    assert found["usage"] == {"users": {"total": 20, "activeMonth": 0, "activeHalfyear": 10}, "localPosts": 20}


@pytest.mark.parametrize(
    ("number", "shown"), [(0, 0), (4, 0), (16, 20), (96, 100), (123, 120), (1234, 1200), (98765, 99000)]
)
def test_counts_show_neither_who_came_nor_who_left(site_store, settings, monkeypatch, number, shown):
    settings.NODEINFO = True
    monkeypatch.setattr(well_known, "_members", well_known.Recent(lambda: well_known._Members(number), None))

    assert browser_of().get("/nodeinfo/2.1").json()["usage"]["users"]["total"] == shown
