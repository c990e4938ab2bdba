"""What the clients of Lemmy's API find on the site: the cast, groups, articles, and what moderators did.

Runs inside the site's own environment (`manage.py shell`), beside the running site, and prints what it made.
"""

import json
import sys

from accounts.models import BanScope, GroupModerator
from articles.domain.articles import ImportedArticle
from articles.domain.lists import Group
from articles.web.wiring import patient_repository
from moderation.bans import ban, lift_ban
from moderation.groups import assign
from tests.factories import actor, comment_on, member, post_as


def set_up() -> None:
    """Fill an empty site."""
    repo, learning = patient_repository(), Group("machine-learning", "Machine Learning")
    alice, bob, mallory = (member(name) for name in ("alice", "bob", "mallory"))
    carol = actor(member("carol", moderator=True))
    repo.groups.create("python", "Python", carol)
    repo.groups.create(learning.slug, learning.title, carol)
    repo.groups.describe("python", "About *snakes*.", carol)
    GroupModerator.objects.set(bob, "python", by=carol.id, is_current=True)
    assign(learning, bob, carol, "He knows.", moderates=True)
    assign(learning, bob, carol, "He forgot.", moderates=False)
    for number in range(30):
        post_as(repo, bob, f"Article {number}", f"https://example.org/{number}", ["python"])
    talked = post_as(repo, bob, "A talk", "", ["python", learning.slug], text="A **text**.").id
    reply = comment_on(repo, talked, "A reply", bob.pk, comment_on(repo, talked, "First", alice.pk))
    comment_on(repo, talked, "Hello @alice", mallory.pk, reply, mentioned=[alice.pk])
    repo.comments.remove(comment_on(repo, talked, "Spam", mallory.pk), carol, "It is spam.")
    repo.articles.remove(post_as(repo, mallory, "Spam", "https://spam.example/").id, carol, "It is spam.")
    locked = post_as(repo, bob, "A quarrel", "https://example.org/quarrel", ["python"]).id
    repo.comments.lock(locked, carol, "Enough.")
    begun = ban(mallory, BanScope.GROUP, "Off-topic", days=7, moderator=carol, group="python")
    assert begun
    lift_ban(begun, "Appealed", carol)
    ban(mallory, BanScope.BOTH, "Nothing but spam", days=7, moderator=carol)
    old = ImportedArticle("Old", "https://example.org/old", 0, "", repo.store.now() - 8 * 86400, 30, 2)
    (closed,) = repo.imports.add([old])
    json.dump({"talked": talked, "closed": closed, "locked": locked, "reply": reply}, sys.stdout)
