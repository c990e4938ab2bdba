"""What programs of moderators cannot decide: about what they posted."""

from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from tests.caller import with_token
from tests.factories import actor, comment_on, member, post_as

OWN = "This concerns you or something you posted. Another moderator has to decide."


def refusal(answer) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def test_moderators_decide_nothing_about_what_they_posted(as_carol, site_store, bob, carol):
    dora = member("dora", moderator=True)
    own = post_as(site_store, carol, "Mine", "https://example.org/mine").id
    comment = comment_on(site_store, own, "Me too", carol.pk)
    for subject in (root_of(own), comment):
        site_store.flags.set(subject, bob.pk, FlagReason.SPAM)

    for path in (f"articles/{own}/kept", f"comments/{comment}/kept"):
        assert refusal(as_carol.put(path, {})) == (403, "forbidden", OWN)
    assert site_store.flags.count() == 2
    restore = {"removed": False, "reason": "Fine"}
    site_store.comments.remove(comment, actor(dora), "Spam")
    assert refusal(as_carol.put(f"comments/{comment}/removed", restore))[2] == OWN
    site_store.articles.remove(own, actor(dora), "Spam")
    assert refusal(as_carol.put(f"articles/{own}/removed", restore))[2] == OWN
    assert with_token(dora).put(f"articles/{own}/removed", restore).status_code == 200
    assert refusal(as_carol.get("users/carol/notes")) == (403, "forbidden", OWN)
