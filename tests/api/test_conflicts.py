"""What programs of moderators cannot decide: about themselves, what they posted, and acts against each other."""

import pytest
from django.utils import timezone

from accounts.models import Ban, BanScope, Sweep, User
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from moderation.bans import ban
from tests.caller import Caller, with_token
from tests.factories import actor, comment_on, member, post_as

OWN = "This concerns you or something you posted. Another moderator has to decide."
FELLOW = "This member is also a moderator. An administrator has to remove their permission first."


@pytest.fixture
def dora(db: None) -> User:
    """Another moderator."""
    return member("dora", moderator=True)


@pytest.fixture
def as_dora(site_store, dora) -> Caller:
    return with_token(dora)


@pytest.fixture
def own(site_store, carol) -> int:
    """An article by carol."""
    return post_as(site_store, carol, "Mine", "https://example.org/mine").id


def refusal(answer) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def test_moderators_decide_nothing_about_what_they_posted(as_carol, as_dora, site_store, own, bob, carol, dora):
    comment = comment_on(site_store, own, "Me too", carol.pk)
    for subject in (root_of(own), comment):
        site_store.flags.set(subject, bob.pk, FlagReason.SPAM)

    for path in (f"articles/{own}/kept", f"comments/{comment}/kept"):
        assert refusal(as_carol.put(path, {})) == (403, "forbidden", OWN)
    assert site_store.flags.count() == 2

    site_store.comments.remove(comment, actor(dora), "Spam")
    assert refusal(as_carol.put(f"comments/{comment}/removed", {"removed": False, "reason": "Fine"}))[2] == OWN
    site_store.articles.remove(own, actor(dora), "Spam")
    assert refusal(as_carol.put(f"articles/{own}/removed", {"removed": False, "reason": "Fine"}))[2] == OWN
    assert site_store.articles.get(own).removed == "Spam"
    assert as_dora.put(f"articles/{own}/removed", {"removed": False, "reason": "Fine"}).status_code == 200


def test_flags_on_a_comment_of_a_removed_article_are_decided(as_carol, site_store, article, alice, bob, dora):
    comment = comment_on(site_store, article, "Buy", alice.pk)
    site_store.flags.set(comment, bob.pk, FlagReason.SPAM)
    site_store.articles.remove(article, actor(dora), "Spam")

    assert as_carol.put(f"comments/{comment}/kept", {}).status_code == 200
    assert site_store.flags.count() == 0


def test_no_act_against_a_member_is_aimed_at_a_moderator(as_carol, as_dora, site_store, own, carol):
    acts = [
        ("PUT", "users/carol/bans/both", {"banned": True, "days": 1, "reason": "Spam"}),
        ("POST", "users/carol/sweeps", {"days": 1, "reason": "Spam"}),
        ("PUT", "users/carol/left-out", {"left_out": True, "reason": "Spam"}),
    ]
    for caller, sentence in ((as_carol, OWN), (as_dora, FELLOW)):
        for act in acts:
            assert refusal(caller.send(*act)) == (403, "forbidden", sentence)
    assert not Ban.objects.exists()
    assert not Sweep.objects.exists()
    assert site_store.articles.get(own).removed is None


def test_members_who_become_moderators_reverse_no_act_against_themselves(
    as_carol, as_dora, site_store, carol, dora
):
    sweep = Sweep.objects.create(member=carol, moderator=dora, reason="Spam", since=timezone.now())
    plain = User.objects.get(pk=carol.pk)
    plain.groups.clear()
    ban(User.objects.get(pk=carol.pk), BanScope.VOTING, "Spam", days=0, moderator=actor(dora))
    list(site_store.left_out.leave_out(carol.pk, "carol", actor(dora), "A ring"))
    plain.groups.set(dora.groups.all())
    acts = {
        "users/carol/bans/voting": {"banned": False, "reason": "Fine"},
        "users/carol/left-out": {"left_out": False, "reason": "Fine"},
        f"users/carol/sweeps/{sweep.pk}": {"restored": True, "reason": "Fine"},
    }

    for path, body in acts.items():
        assert refusal(as_carol.put(path, body)) == (403, "forbidden", OWN)
    assert refusal(as_dora.put(f"users/carol/sweeps/{sweep.pk}", {"restored": False})) == (
        403,
        "forbidden",
        FELLOW,
    )
    for path, body in acts.items():
        assert as_dora.put(path, body).status_code == 200
    assert not carol.bans.current().exists()
