"""What moderators, and only they, can still do about an account that was deleted less than 30 days ago."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db.models import F
from django.test import Client

from accounts import account_deletion
from accounts.models import AccountDeletion, Sweep, User
from accounts.moderators import BAN_MEMBERS
from articles import housekeeping
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.routes import routes

NUMBER, NAME = 86_753_098_675_309, "spamqueen"  # too long to occur in a measurement
PAGE = f"/users/~{NUMBER}/moderation/"
FIELDS = {"days": "1", "reason": "Nothing but spam"}


@pytest.fixture
def spam(site_store, article, alice) -> tuple[int, int, int]:
    """Return an article and two comments, there and on alice's, by a spammer whose account is then deleted."""
    spammer = member(NAME, pk=NUMBER)
    own = post_as(site_store, spammer, "Cheap pills", "https://spam.example/", groups=("python",)).id
    ids = own, *(site_store.comments.post(one, NUMBER, NAME, "Buy pills") for one in (article, own))
    site_store.articles.edit(own, actor(spammer), "Cheap pills!", "https://spam.example/", moderator=False)
    comment_on(site_store, article, "Please do not", alice.pk, parent=ids[1])
    account_deletion.begin(NUMBER)
    account_deletion.advance_all(60)
    return ids


def lapse(time: timedelta) -> None:
    AccountDeletion.objects.update(begun_at=F("begun_at") - time)
    User.objects.exclude(left_at=None).update(left_at=F("left_at") - time)


def test_a_moderator_is_led_from_article_and_comment_to_what_the_account_posted(site_store, spam, article, carol):
    own, comment, _ = spam
    browser, lead = browser_of(carol), f'<a class="poster" href="{PAGE}">[deleted]</a>'
    for address in (f"/articles/{own}/", f"/articles/{article}/", f"/comments/{comment}/"):
        assert lead in browser.get(address).text, address

    page = browser.get(PAGE).text

    assert f"Moderate deleted account {NUMBER}" in page
    assert "1 article and 2 comments" in page
    for address in (f"/articles/{own}/", f"/comments/{comment}/"):
        assert f'href="{address}"' in page
    for absent in (NAME, "Bans", "Notes", f'/users/~{NUMBER}/"'):
        assert absent not in page


def test_a_moderator_removes_everything_and_restores_it(site_store, spam, carol):
    own, comment, _ = spam
    browser = browser_of(carol)

    page = browser.post(f"{PAGE}sweep/", FIELDS, follow=True).text

    sweep = Sweep.objects.get()
    assert (sweep.removed, sweep.is_complete, sweep.member_id) == (3, True, NUMBER)
    assert site_store.articles.get(own).removed == site_store.comments.get(comment).removed == FIELDS["reason"]
    assert page.count("Reason: Nothing but spam") == 4  # of the sweep, and of what it removed
    account_deletion.advance_all(60)
    browser.post(f"{PAGE}sweep/{sweep.pk}/", {})
    browser.post(f"{PAGE}sweep/{sweep.pk}/restore/", {"reason": "It was a mistake"})
    assert site_store.articles.get(own).removed is None
    assert site_store.comments.get(comment).removed is None
    assert "Everything was restored." in browser.get(PAGE).text
    assert list(site_store.audit.run()) == []


def test_a_sweep_made_before_the_deletion_can_be_undone(site_store, article, alice, carol):
    browser_of(carol).post("/users/alice/moderation/sweep/", FIELDS)
    sweep = Sweep.objects.get()
    account_deletion.begin(alice.pk)
    account_deletion.advance_all(60)

    page = f"/users/~{alice.pk}/moderation/"
    browser_of(carol).post(f"{page}sweep/{sweep.pk}/restore/", {"reason": "It was a mistake"})

    assert site_store.articles.get(article).removed is None
    account_deletion.begin(carol.pk)
    account_deletion.advance_all(60)
    other = member("olga", moderator=True)
    assert "by [deleted]" in browser_of(other).get(page).text


def test_only_moderators_get_there(site_store, spam, bob, carol):
    own, comment, _ = spam
    assert Client().get(PAGE)["Location"].startswith("/login/")
    for address, sent in ((PAGE, None), (f"{PAGE}sweep/", FIELDS)):
        browser = browser_of(bob)
        assert (browser.post(address, sent) if sent else browser.get(address)).status_code == 403
    for browser in (Client(), browser_of(bob)):
        for address in (f"/articles/{own}/", f"/comments/{comment}/", "/newest/", "/search/?q=pills&for=comments"):
            assert str(NUMBER) not in browser.get(address).text
    bob.user_permissions.add(Permission.objects.get(codename=BAN_MEMBERS.partition(".")[2]))
    assert PAGE in browser_of(bob).get(f"/articles/{own}/").text
    assert browser_of(bob).get(PAGE).status_code == 200
    assert browser_of(bob).post(f"{PAGE}sweep/", FIELDS).status_code == 403
    assert site_store.articles.get(own).removed is None


def test_the_number_leads_nowhere_for_other_accounts_and_after_the_month(site_store, spam, bob, carol):
    browser = browser_of(carol)
    bans = {"scope": "posting", "days": "1", "reason": "?"}
    assert browser.post(PAGE, bans).status_code == 404  # there is no one to ban
    for act in ("votes/", "votes/count/", "votes/continue/", "notes/"):
        assert browser.post(f"{PAGE}{act}", FIELDS).status_code == 404
    for name in (f"~{bob.pk}", "~0", "~", "~99", "~x", f"~{NUMBER}0" * 9, f"~0{NUMBER}", f"{NUMBER}"):
        assert browser.get(f"/users/{name}/moderation/").status_code == 404, name
        assert browser.post(f"/users/{name}/moderation/sweep/", FIELDS).status_code == 404
    assert browser.get(f"/users/~{NUMBER}/").status_code == 404

    lapse(account_deletion.KEPT)

    assert browser.get(PAGE).status_code == 404
    assert browser.post(f"{PAGE}sweep/", FIELDS).status_code == 404
    housekeeping.run(site_store)
    assert str(NUMBER) not in browser.get(f"/articles/{spam[0]}/").text
    assert list(site_store.audit.run()) == []


def test_the_page_of_a_moderator_is_not_shown_to_a_reader_who_comes_next(site_store, spam, bob, carol):
    address = f"/articles/{spam[0]}/"
    for _ in range(2):
        assert str(NUMBER) in browser_of(carol).get(address).text
        assert str(NUMBER) not in browser_of(bob).get(address).text
        assert str(NUMBER) not in Client().get(address).text


@pytest.mark.hostile
def test_no_page_feed_or_answer_says_name_or_number(site_store, spam, bob):
    own, comment, _ = spam
    samples = {"article_id": str(own), "comment_id": str(comment), "slugs": "python", "slug": "python"}
    seen = 0
    for browser in (Client(), browser_of(bob)):
        for route in routes():
            for kind in ("atom", "rss", "json") if "kind" in route.parameters else ("",):
                path = route.path(**samples, kind=kind, name="bob")
                answer = browser.get(path, {"q": "pills"})
                content = b"".join(answer.streaming_content) if answer.streaming else answer.content
                text = f"{content.decode(errors='replace')} {dict(answer.headers)}"
                seen += "pills" in text and answer.status_code == 200
                assert str(NUMBER) not in text, path
                assert NAME not in text, path
    assert seen > 20
