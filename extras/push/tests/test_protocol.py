"""Messages are sent as the standards say, and to public addresses alone."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from articles.text.lines import InvalidInput
from extras.push import protocol
from outgoing import posting
from outgoing.fetching import NotFetched
from tests.cases import for_each
from tests.push_service import HOST, FakeBrowser, check_token, decoded, encoded


def test_a_message_is_encrypted_as_in_the_example_of_rfc_8291():
    own = ec.derive_private_key(
        int.from_bytes(decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")), ec.SECP256R1()
    )
    device = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"

    body = protocol.encrypted(
        b"When I grow up, I want to be a watermelon",
        decoded(device),
        decoded("BTBZMqHH6r4Tts7J_aSIgg"),
        own=own,
        salt=decoded("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert encoded(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
        "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


def test_a_service_takes_a_message_that_only_the_browser_reads(service):
    browser, other = FakeBrowser(), FakeBrowser()

    answer = protocol.send(protocol.clean_subscription(browser.subscription), b'{"title": "Hi"}', "inbox")

    assert answer.status == 201
    ((path, headers, body),) = service.taken
    assert (path, headers["TTL"], headers["Topic"], headers["Urgency"]) == ("/firefox", "86400", "inbox", "normal")
    assert browser.read(body) == {"title": "Hi"}
    with pytest.raises(Exception, match=r"^$"):
        other.read(body)
    assert service.claims[0]["sub"] == "https://news.example.org"


def test_a_service_refuses_another_site(service, settings):
    flat = protocol.clean_subscription(FakeBrowser().subscription)
    settings.SECRET_KEY = "another secret key, of another site"

    assert protocol.send(flat, b"{}", "inbox").status == 403


def test_a_token_for_one_service_is_none_for_another(service):
    protocol.send(protocol.clean_subscription(FakeBrowser().subscription), b"{}", "inbox")
    authorization = service.taken[0][1]["Authorization"]

    assert check_token(authorization, f"https://{HOST}", protocol.public_key())
    with pytest.raises(AssertionError, match="another service"):
        check_token(authorization, "https://other.example.org", protocol.public_key())


def test_without_an_address_with_https_the_site_names_its_mail_address(service, settings):
    settings.SITE_URL, settings.EMAIL_FROM = "http://localhost:8000", "News <news@example.org>"

    protocol.send(protocol.clean_subscription(FakeBrowser().subscription), b"{}", "inbox")

    assert service.claims[0]["sub"] == "mailto:news@example.org"


@for_each("address", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"])
def test_a_name_that_leads_to_a_private_address_is_not_reached(service, address):
    service.addresses = [address]

    with pytest.raises(NotFetched, match="not-public"):
        protocol.send(protocol.clean_subscription(FakeBrowser().subscription), b"{}", "inbox")

    assert service.connected == []


def test_a_redirect_is_not_followed(service):
    service.answers = [(307, {"Location": f"https://{HOST}/elsewhere"})]

    answer = protocol.send(protocol.clean_subscription(FakeBrowser().subscription), b"{}", "inbox")

    assert answer.status == 307
    assert service.taken == []


def test_a_slow_service_is_left_after_seconds(service, monkeypatch):
    service.hangs = True
    monkeypatch.setattr(posting, "SECONDS", 0.5)

    with pytest.raises(NotFetched, match="slow"):
        protocol.send(protocol.clean_subscription(FakeBrowser().subscription), b"{}", "inbox")


WRONG = {
    "no address": {"endpoint": ""},
    "plain http": {"endpoint": "http://push.example.org/1"},
    "another port": {"endpoint": "https://push.example.org:8443/1"},
    "a password": {"endpoint": "https://a:b@push.example.org/1"},
    "a private address": {"endpoint": "https://10.0.0.7/1"},
    "this machine": {"endpoint": "https://localhost/1"},
    "a file": {"endpoint": "file:///etc/passwd"},
    "a long address": {"endpoint": f"https://push.example.org/{'x' * 1000}"},
    "no keys": {"keys": None},
    "a short secret": {"keys": {"p256dh": FakeBrowser().subscription["keys"]["p256dh"], "auth": "AAAA"}},
    "no point of the curve": {"keys": {"p256dh": encoded(b"\4" + b"x" * 64), "auth": encoded(b"x" * 16)}},
    "a packed point": {"keys": {"p256dh": encoded(b"\2" + b"x" * 32), "auth": encoded(b"x" * 16)}},
    "no base64": {"keys": {"p256dh": "§", "auth": "§"}},
}


@for_each("what, change", WRONG.items())
def test_what_is_no_subscription_is_refused(what, change):
    with pytest.raises(InvalidInput) as refused:
        protocol.clean_subscription(FakeBrowser().subscription | change)

    assert refused.value.code == "push-subscription"


@for_each("raw", [{}, [], "text", None, {"endpoint": 1}])
def test_other_json_is_refused(raw):
    with pytest.raises(InvalidInput):
        protocol.clean_subscription(raw)
