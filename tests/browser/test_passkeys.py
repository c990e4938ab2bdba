"""Passkeys in a real browser with a virtual authenticator: a fingerprint reader that Chromium plays."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.windows import fill_in_password, log_in, window

pytestmark = pytest.mark.browser

READER = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def reader_in(page: Page) -> Callable[..., Any]:
    """Give the window a fingerprint reader; return a function that sends it a command."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    number = devices.send("WebAuthn.addVirtualAuthenticator", {"options": READER})["authenticatorId"]
    return lambda name, **values: devices.send(f"WebAuthn.{name}", {"authenticatorId": number, **values})


def log_out(page: Page) -> None:
    page.context.clear_cookies()
    page.goto("/login/?next=/hot/")


def test_a_passkey_is_added_logs_in_and_is_the_second_step_and_a_copy_of_it_is_refused(chromium, site):
    with window(chromium, site) as page:
        reader = reader_in(page)
        log_in(page, site, "demo")
        page.goto("/settings/security/")
        page.fill("main [name=name]", "laptop")
        page.click("text=Add a passkey")
        expect(page.locator(".message.success")).to_contain_text("The passkey has been added.")

        log_out(page)
        page.click("text=Log in with a passkey")
        page.wait_for_url("**/hot/")
        expect(page.locator(".account")).to_contain_text("demo")

        page.goto("/settings/security/")
        page.click("text=Use a passkey as the second step")
        expect(page.locator("h1")).to_have_text("Your recovery codes")
        log_out(page)
        fill_in_password(page, site, "demo")
        page.wait_for_url("**/login/second/")
        page.click("text=Continue with a passkey")
        page.wait_for_url("**/hot/")

        log_out(page)
        (kept,) = reader("getCredentials")["credentials"]
        reader("removeCredential", credentialId=kept["credentialId"])
        reader("addCredential", credential=kept | {"signCount": 1})
        page.click("text=Log in with a passkey")
        expect(page.locator(".message.error")).to_contain_text("A copy of this passkey seems to be in use")


def test_without_a_finger_nothing_is_sent_and_without_a_script_the_page_says_what_is_missing(chromium, site):
    with window(chromium, site) as page:
        reader_in(page)("setUserVerified", isUserVerified=False)
        page.goto("/login/")
        button = page.get_by_role("button", name="Log in with a passkey")
        button.click()
        expect(button).to_be_enabled()
        assert "/login/" in page.url
    with window(chromium, site, java_script_enabled=False) as page:
        page.goto("/login/")
        assert "<noscript><p" in page.content()
        expect(page.get_by_role("button", name="Log in with a passkey")).to_be_hidden()
