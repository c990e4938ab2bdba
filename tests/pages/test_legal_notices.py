"""Legal notices: what readers report without an account, what they get back, and what moderators decide."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts import account_deletion
from accounts.models import LegalNotice, Statement, User
from accounts.models.law import NOTICES_KEPT
from articles.configuration import choices
from articles.domain.comments import root_of
from articles.domain.limits import Rate
from articles.housekeeping import run
from articles.web import wiring
from moderation.legal_notices import target_of
from tests.caller import error_of, with_token
from tests.cases import for_each
from tests.factories import browser_of, comment_on, member
from tests.pages.lists import text_of

NEW, QUEUE = "/notices/", "/moderation/queue/"
SENT = {
    "reason": "illegal",
    "cited": "Section 130",
    "explanation": "It denies a genocide.",
    "name": "Nora",
    "email": "nora@example.org",
    "good_faith": "on",
}


@pytest.fixture(autouse=True)
def _law(site_store) -> None:
    choices.save("LEGAL_NOTICES", "1")
    choices.forget()


def report(address: str, browser=None, **fields: str):
    """Send a notice; return the address of its page."""
    answer = (browser or browser_of()).post(NEW, SENT | {"address": address} | fields)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"]


def decide(moderator: User, decision: str, **fields: str):
    form = f"{QUEUE}notices/{LegalNotice.objects.latest('pk').pk}/"
    return browser_of(moderator).post(form, {"decision": decision, "reason": "A quotation"} | fields, follow=True)


def test_a_reader_reports_content_and_follows_the_report_on_a_secret_page(article, carol):
    headings = re.findall(r"<h2>([^<]*)</h2>", browser_of().get(NEW).text.partition("<main")[2])
    assert headings == ["What it is about", "Why you report it", "About you"]
    page = report(f"http://testserver/articles/{article}/")

    assert re.fullmatch(r"/notices/[A-Za-z0-9_-]{24}/", page)
    answer = browser_of().get(page)
    assert answer["X-Robots-Tag"] == "noindex"
    assert "no-store" in answer["Cache-Control"]
    assert "The moderators have not decided yet." in answer.text
    assert "Nora" not in answer.text
    assert browser_of().get("/notices/guessed/").status_code == 404

    decide(carol, "kept")

    told = text_of(None, page)
    assert "The content stays. Reason A quotation" in told


def test_what_is_missing_is_said_and_only_child_abuse_can_be_reported_without_a_name(article):
    for missing in ("explanation", "name", "email", "good_faith", "reason"):
        answer = browser_of().post(NEW, {"address": f"/articles/{article}/"} | SENT | {missing: ""})
        assert answer.status_code == 400
        assert f'id="id_{missing}_error"' in answer.text
    assert not LegalNotice.objects.exists()

    page = report(f"/articles/{article}/", reason="child-abuse", name="", email="")

    assert "No email is sent." in text_of(None, page)


@for_each(
    "address",
    [
        "", "/", "/articles/", "/groups/python/", "https://example.org/articles/1/",
        "//example.org/articles/1/", "javascript:alert(1)", "ftp://testserver/articles/1/",
        "/\\example.org/articles/1/", "http://[testserver/articles/1/", "/comments/1000000/",
        "/users/" + "x" * 3000 + "/",
    ],
)  # fmt: skip
def test_an_address_must_be_an_article_a_comment_or_a_member_of_this_site(address):
    answer = browser_of().post(NEW, SENT | {"address": address})

    assert answer.status_code == 400
    assert not LegalNotice.objects.exists()


@for_each(
    "address, path, subject",
    [
        ("/articles/7/", "/articles/7/", root_of(7)),
        ("https://here.example/articles/7?comments=oldest", "/articles/7/", root_of(7)),
        ("/articles/7/#comment-7000002", "/comments/7000002/", 7_000_002),
        ("/articles/7/#comment-8000002", "/articles/7/", root_of(7)),
        ("/comments/7000002/", "/comments/7000002/", 7_000_002),
        ("/users/alice/comments/", "/users/alice/", 0),
        (" /users/%E5%B0%8F%E6%98%8E/ ", "/users/%E5%B0%8F%E6%98%8E/", 0),
    ],
)
def test_an_address_is_read_as_it_is_copied(address, path, subject):
    target = target_of(address, "here.example")

    assert target is not None
    assert (target.path, target.subject) == (path, subject)


def test_the_form_says_nothing_about_what_exists(article, alice, carol):
    pages = [report(path) for path in (f"/articles/{article}/", "/articles/999/", "/users/alice/", "/users/nemo/")]

    told = [re.sub(r"/(articles|users|notices)/[\w-]+/", "", text_of(None, page)) for page in pages]
    assert len(set(told)) == 1
    assert text_of(carol, QUEUE).count("There is no such page.") == 2
    assert "There is no such article." in decide_first(carol, "/articles/999/")


def decide_first(moderator: User, address: str) -> str:
    form = f"{QUEUE}notices/{LegalNotice.objects.get(address=address).pk}/"
    fields = {"decision": "removed", "reason": "Hatred", "cited": "Rule 1"}
    return browser_of(moderator).post(form, fields, follow=True).text


def test_on_a_site_for_members_everyone_can_report_and_reads_nothing_else(article, alice, carol):
    choices.save("READING", "members")
    choices.forget()

    assert browser_of().get(f"/articles/{article}/").status_code == 302
    page = report(f"/articles/{article}/")
    assert wiring.repository().articles.get(article).title not in browser_of().get(page).text
    assert wiring.repository().articles.get(article).title in browser_of(carol).get(QUEUE).text


def test_while_the_setting_is_off_there_is_no_form_and_nothing_leads_to_it(article, alice):
    page = report(f"/articles/{article}/")
    assert NEW in browser_of().get(f"/articles/{article}/").text
    choices.save("LEGAL_NOTICES", "")
    choices.forget()

    assert browser_of().get(NEW).status_code == 404
    assert browser_of().post(NEW, SENT | {"address": f"/articles/{article}/"}).status_code == 404
    for path in (f"/articles/{article}/", "/about/", "/"):
        assert NEW not in browser_of().get(path).text
    assert browser_of().get(page).status_code == 200, "a report that was sent is still answered"


def test_what_is_flagged_can_be_reported_as_illegal_by_everyone(site_store, article, alice, bob):
    comment = comment_on(site_store, article, "A comment", alice.pk)
    User.objects.filter(pk=alice.pk).update(about="About me")
    for browser in (browser_of(), browser_of(bob)):
        for path in (f"/articles/{article}/", f"/comments/{comment}/", "/users/alice/"):
            assert f'href="{path}flag/"' in browser.get(path).text
            assert f"{NEW}?" not in browser.get(path).text, "one way to flag"
            assert 'value="illegal"' in browser.get(f"{path}flag/").text
            sent = browser.post(f"{path}flag/", {"reason": "illegal"}, follow=True)
            assert f'value="http://testserver{path}"' in sent.text
    assert browser_of().post(f"/articles/{article}/flag/", {"reason": "spam"}).status_code == 403
    assert site_store.flags.count() == 0

    choices.save("LEGAL_NOTICES", "")
    choices.forget()
    assert browser_of().get(f"/articles/{article}/flag/").status_code == 302
    assert 'value="illegal"' not in browser_of(bob).get(f"/articles/{article}/flag/").text
    assert browser_of(bob).post(f"/articles/{article}/flag/", {"reason": "illegal"}).status_code == 400


def test_a_form_without_its_token_is_shown_again_and_not_sent(article):
    answer = browser_of(strict=True).post(NEW, SENT | {"address": f"/articles/{article}/"})

    assert answer.status_code in (200, 403)
    assert "It denies a genocide." in answer.text
    assert not LegalNotice.objects.exists()


def test_a_form_sent_twice_makes_one_notice(article):
    assert report(f"/articles/{article}/") == report(f"/articles/{article}/")
    assert report(f"/articles/{article}/", explanation="Also the second part") != report(f"/articles/{article}/")


@pytest.mark.parametrize("limit", ["notices", "notices_mail", "notices_day"])
def test_floods_are_refused_and_what_was_typed_stays(article, limits, limits_clock, limit):
    limits(**{limit: Rate(2, 3600)})
    for number in range(2):
        report(f"/articles/{article}/", explanation=f"Part {number}")

    answer = browser_of().post(NEW, SENT | {"address": f"/articles/{article}/", "explanation": "Part 3"})

    assert answer.status_code == 429
    assert "Part 3" in answer.text
    assert LegalNotice.objects.count() == 2


def test_a_receipt_is_sent_hourly_with_nothing_typed(site_store, article, carol, settings, limits_clock, limits):
    limits(receipts=Rate(1, 3600))
    settings.SITE_URL = "https://news.example.org"
    pages = [report(f"/articles/{article}/", explanation=f"Buy pills {n}") for n in range(3)]
    for _ in range(2):
        run(site_store)

    (receipt,) = mail.outbox
    assert receipt.to == ["nora@example.org"]
    assert f"https://news.example.org{pages[0]}" in receipt.body
    assert not {"pills", "Nora", "Section"} & set(receipt.body.split())
    decide(carol, "kept")
    run(site_store)
    assert "The content stays." in mail.outbox[-1].body
    assert "A quotation" in mail.outbox[-1].body
    assert len(mail.outbox) == 2


@for_each("email", ["nora@example.org\nBcc: eve@example.org", "nora@example.org, eve@example.org", "<nora>"])
def test_no_header_and_no_second_address_can_be_put_into_the_mail(article, email):
    answer = browser_of().post(NEW, SENT | {"address": f"/articles/{article}/", "email": email})

    assert answer.status_code == 400
    assert not LegalNotice.objects.exists()


def test_a_removal_by_a_notice_states_its_law_and_that_a_reader_reported_it(site_store, article, alice, carol):
    report(f"/articles/{article}/")
    assert "nora@example.org" in text_of(carol, QUEUE)
    assert "Say which rule, or which law." in decide(carol, "removed", ground="law", cited="").text
    for _ in range(2):  # pressed twice
        decide(carol, "removed", ground="law", cited="Section 130", facts="The second sentence")

    assert site_store.articles.get(article).removed == "A quotation"
    statement = Statement.objects.get()
    found = (statement.member, statement.ground, statement.cited, statement.by_notice)
    assert found == (alice, "law", "Section 130", True)
    assert "A reader had reported it." in text_of(alice, f"/statements/{statement.pk}/")
    assert "nora" not in browser_of(alice).get(f"/statements/{statement.pk}/").text.lower()


def test_profiles_and_comments_are_removed_as_well_and_what_is_gone_counts(site_store, article, bob, carol):
    comment = comment_on(site_store, article, "A comment", bob.pk)
    User.objects.filter(pk=bob.pk).update(about="Hatred")
    for address in (f"/comments/{comment}/", "/users/bob/", f"/comments/{comment}/"):
        report(address, explanation=f"About {LegalNotice.objects.count()}")
        decide(carol, "removed", cited="Rule 1")

    assert site_store.comments.get(comment).removed == "A quotation"
    assert User.objects.get(pk=bob.pk).about == ""
    assert set(LegalNotice.objects.values_list("outcome", flat=True)) == {"removed"}
    assert Statement.objects.count() == 2


def test_moderators_do_not_decide_on_their_own_content_and_members_not_at_all(article, alice, bob):
    alice.groups.add(member("dora", moderator=True).groups.get())
    report(f"/articles/{article}/")

    assert "Another moderator has to decide." in decide(alice, "kept").text
    assert decide(bob, "removed", cited="Rule 1").status_code == 403
    assert LegalNotice.objects.get().decided_at is None
    assert "Reports from outside" not in browser_of(bob).get(QUEUE).text


def test_programs_of_moderators_list_and_decide(site_store, article, alice, carol):
    report(f"/articles/{article}/")
    assert error_of(with_token(alice).get("queue/notices"))[0] == 403
    (one,) = with_token(carol).get("queue/notices").json()["notices"]
    found = (one["address"], one["reason"], one["email"])
    assert found == (f"/articles/{article}/", "illegal", "nora@example.org")
    body = {"removed": True, "reason": "Hatred"}
    assert error_of(with_token(carol).put(f"queue/notices/{one['id']}", body)) == (400, "cited-empty")

    body |= {"ground": "law", "cited": "Section 130"}
    done = with_token(carol).put(f"queue/notices/{one['id']}", body)

    assert (done.json()["outcome"], site_store.articles.get(article).removed) == ("removed", "Hatred")
    again = with_token(carol).put(f"queue/notices/{one['id']}", {"removed": False, "reason": "No"})
    assert again.json()["outcome"] == "removed"
    assert with_token(carol).get("queue/notices").json() == {"notices": [], "next_after": None}


def test_notices_count_as_waiting_and_are_mailed_to_moderators(site_store, article, carol):
    User.objects.filter(pk=carol.pk).update(email="carol@example.org", verified_email="carol@example.org")
    report(f"/articles/{article}/", email="", name="", reason="child-abuse")
    LegalNotice.objects.update(made_at=timezone.now() - timedelta(minutes=1))

    assert "Queue (1)" in text_of(carol, QUEUE)
    run(site_store)
    (message,) = mail.outbox
    assert "A report from outside: It shows the sexual abuse of children" in message.body


def test_a_notice_is_forgotten_half_a_year_after_the_decision_but_counted(site_store, article, carol):
    page = report(f"/articles/{article}/")
    decide(carol, "kept")
    now = timezone.now()
    run(site_store)
    assert LegalNotice.objects.get().name == "Nora"

    LegalNotice.objects.update(decided_at=now - NOTICES_KEPT - timedelta(minutes=1))
    run(site_store)

    assert browser_of().get(page).status_code == 404
    left = LegalNotice.objects.values_list("code", "address", "name", "email", "explanation", "cited", "answer")
    assert left.get() == (None, "", "", "", "", "", "")
    assert LegalNotice.objects.values_list("reason", "outcome").get() == ("illegal", "kept")


def test_the_deletion_of_an_account_takes_its_name_from_notices_about_it(alice):
    report("/users/alice/")

    account_deletion.begin(alice.pk)

    assert LegalNotice.objects.values_list("address", "member").get() == ("", None)
