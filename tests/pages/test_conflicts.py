"""What moderators cannot decide: about themselves, what they posted, and acts against each other."""

import re

import pytest
from django.utils import timezone

from accounts.models import Ban, BanScope, Sweep, User
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from moderation.bans import ban
from tests.factories import actor, browser_of, comment_on, post_as, vote_from

QUEUE, DECIDE = "/moderation/queue/", "/moderation/queue/decide/"
OWN = "This concerns you or something you posted. Another moderator has to decide."
FELLOW = "This member is also a moderator. An administrator has to remove their permission first."


@pytest.fixture
def own(site_store, carol) -> int:
    """An article by carol."""
    return post_as(site_store, carol, "Mine", "https://example.org/mine").id


def refused(user: User, path: str, sentence: str, **fields: object) -> bool:
    """Return whether a form is refused with a sentence, in both languages."""
    answers = [browser_of(user).post(path, fields, headers={"Accept-Language": one}) for one in ("en", "zh")]
    return (
        [answer.status_code for answer in answers] == [403, 403]
        and sentence in answers[0].text
        and sentence not in answers[1].text
        and "版主" in answers[1].text
    )


@pytest.mark.deep
@pytest.mark.parametrize("decision", ["keep", "remove", "ban"])
@pytest.mark.parametrize("is_comment", [False, True])
@pytest.mark.parametrize("is_article_removed", [False, True])
def test_moderators_decide_no_flags_on_what_they_posted(
    site_store, own, bob, carol, dora, decision, is_comment, is_article_removed
):
    subject = comment_on(site_store, own, "Me too", carol.pk) if is_comment else root_of(own)
    site_store.flags.set(subject, bob.pk, FlagReason.SPAM)
    if is_article_removed:
        site_store.articles.remove(own, actor(dora), "Spam")
    fields = {"subject": subject, "seen": str(site_store.store.now() + 1), "decision": decision, "reason": "Fine"}
    open_flags = site_store.flags.count()

    assert refused(carol, DECIDE, OWN, **fields)
    assert site_store.flags.count() == open_flags
    queue = browser_of(carol).get(QUEUE).text
    assert (OWN in queue, f'action="{DECIDE}"' in queue) == (bool(open_flags), False)
    if decision != "ban":
        assert browser_of(dora).post(DECIDE, fields).status_code == 302
        assert site_store.flags.count() == 0


def test_a_moderator_is_not_banned_along_with_a_decision_on_flags(site_store, own, bob, dora):
    site_store.flags.set(root_of(own), bob.pk, FlagReason.SPAM)
    assert "Remove, and ban" not in browser_of(dora).get(QUEUE).text

    fields = {"subject": root_of(own), "seen": "1", "decision": "ban", "reason": "Spam"}

    assert refused(dora, DECIDE, FELLOW, **fields)
    assert site_store.articles.get(own).removed is None


@pytest.mark.parametrize(
    "act", [("", {"scope": "both", "days": 1}), ("sweep/", {"days": 1}), ("votes/", {})], ids=lambda act: act[0]
)
def test_no_act_against_a_member_is_aimed_at_a_moderator(site_store, own, carol, dora, act):
    path, fields = act
    for user, sentence in ((carol, OWN), (dora, FELLOW)):
        page = browser_of(user).get("/users/carol/moderation/").text
        assert not re.search(rf'action="/users/carol/moderation/{path}"|<button[^>]*>Ban<', page)
        assert refused(user, f"/users/carol/moderation/{path}", sentence, reason="Spam", **fields)
    assert not Ban.objects.exists()
    assert not Sweep.objects.exists()
    assert site_store.articles.get(own).removed is None
    assert not site_store.left_out.get_state(carol.pk).is_left_out


def test_members_who_become_moderators_reverse_no_act_against_themselves(site_store, own, carol, dora):
    comment = comment_on(site_store, own, "Me too", carol.pk)
    sweep = Sweep.objects.create(member=carol, moderator=dora, reason="Spam", since=timezone.now(), removed=1)
    plain = User.objects.get(pk=carol.pk)
    plain.groups.clear()
    ban(User.objects.get(pk=carol.pk), BanScope.VOTING, "Spam", days=0, moderator=actor(dora))
    list(site_store.left_out.leave_out(carol.pk, "carol", actor(dora), "A ring"))
    Ban.objects.update(appeal="Please", appealed_at=timezone.now())
    plain.groups.set(dora.groups.all())
    site_store.comments.remove(comment, actor(dora), "Spam")
    acts = {
        f"/users/carol/moderation/bans/{Ban.objects.get().pk}/lift/": {"reason": "Fine"},
        "/users/carol/moderation/votes/count/": {"reason": "Fine"},
        f"/users/carol/moderation/sweep/{sweep.pk}/restore/": {"reason": "Fine"},
        f"/moderation/queue/appeals/{Ban.objects.get().pk}/": {"decision": "lift", "answer": "Fine"},
        f"/comments/{comment}/restore/": {"reason": "Fine"},
    }

    pages = [browser_of(carol).get(path).text for path in ("/users/carol/moderation/", QUEUE)]
    assert OWN in pages[1]
    for path, fields in acts.items():
        assert not any(f'action="{path}"' in page for page in pages)
        assert refused(carol, path, OWN, **fields), path
    assert f"/comments/{comment}/restore/" not in browser_of(carol).get(f"/articles/{own}/").text
    site_store.articles.remove(own, actor(dora), "Spam")
    assert f"/articles/{own}/restore/" not in browser_of(carol).get(f"/articles/{own}/").text
    assert f"/articles/{own}/restore/" not in browser_of(carol).get("/moderation/removed/").text
    assert refused(carol, f"/articles/{own}/restore/", OWN, reason="Fine")
    assert carol.bans.current().exists()
    assert site_store.left_out.get_state(carol.pk).is_left_out
    assert site_store.articles.get(own).removed == "Spam"
    assert browser_of(dora).post(f"/articles/{own}/restore/", {"reason": "Fine"}).status_code == 302
    assert site_store.articles.get(own).removed is None


def test_posters_with_the_permission_check_no_votes_on_their_own_article(site_store, own, carol, dora):
    vote_from(site_store, own, 1, 10)
    ring = site_store.articles.get(own).ring
    for path in ("/moderation/rings/", f"/articles/{own}/"):
        page = browser_of(carol).get(path).text
        assert "10 new accounts voted" in page
        assert "Mark as checked" not in page
        assert OWN in page
    fields = {"seen": f"{ring.last_at:.3f}"}

    assert refused(carol, f"/articles/{own}/ring/", OWN, **fields)
    assert site_store.articles.get(own).ring == ring
    assert browser_of(dora).post(f"/articles/{own}/ring/", fields).status_code == 302
    assert site_store.articles.get(own).ring is None


def test_moderators_remove_what_they_posted_and_cannot_clear_its_flags_that_way(site_store, own, bob, carol):
    site_store.flags.set(root_of(own), bob.pk, FlagReason.SPAM)

    assert browser_of(carol).post(f"/articles/{own}/remove/", {"reason": "A mistake"}).status_code == 302
    assert site_store.articles.get(own).removed == "A mistake"
    assert refused(carol, f"/articles/{own}/restore/", OWN, reason="Fine")
