"""A site that was used: something of every kind that an export has, and of every kind that it must not have."""

from datetime import timedelta

from django.utils import timezone

from accounts import account_deletion
from accounts.models import Ban, BanScope, HeldPost, Invitation, MemberNote, User
from articles.configuration import choices
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.comments import CommentPlace, ImportedComment
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import OPERATOR, Actor
from articles.text.searching import Hiding, Kind as Hidden
from articles.web.groups import set_visibility
from extras.moving_in.models import Arrival, Kind, MovedAccount, Source

OLD = 1_600_000_000
SECRET = "zqx"  # begins each word that no reader sees


def fill(repository):
    """Fill an empty site; return ids of articles and comments by what they are for."""
    imports, groups, articles, comments = (
        repository.imports,
        repository.groups,
        repository.articles,
        repository.comments,
    )
    names = ("ann", "bob", "cid", "dee", "zqx-lurker", "judge", "张三")
    users = {
        name: User.objects.create_user(name, f"{SECRET}@{n}.example", f"{name} secret")
        for n, name in enumerate(names)
    }
    for one in users.values():
        User.objects.filter(pk=one.pk).update(password=f"pbkdf2_sha256$1$salt{one.pk}${'h' * 43}=")
    ann, bob, cid, dee, lurker, mod, zhang = users.values()
    moderator = Actor(mod.pk, "judge")
    groups.ensure({"cpp": "C++", "web": "The Web", "old-web": "Old", f"{SECRET}-closed": f"{SECRET}closedtitle"})
    groups.describe("cpp", "About *C++*", OPERATOR)
    groups.describe(f"{SECRET}-closed", f"{SECRET}closedtext", OPERATOR)
    set_visibility(f"{SECRET}-closed", moderator, f"{SECRET}closedwhy", is_closed=True)
    choices.forget()

    ids = {}
    closed = ImportedArticle(
        "Closed long ago", "https://example.org/closed", ann.pk, "ann", OLD, 40, 3, ("cpp",), comment_numbers=2,
        edited_at=OLD + 60.25, locked="All is said", text="A *text*\n\n零",
    )  # fmt: skip
    unknown = ImportedArticle("Nobody's", "https://example.org/nobody", 0, "", OLD + 5.5, 7, 0, ())
    ids["closed"], ids["unknown"] = imports.add([closed, unknown])
    first = CommentPlace(1, OLD + 10)
    imports.add_comments(
        [
            ImportedComment(closed, first, bob.pk, "bob", "Top", 4, 1, OLD + 20),
            ImportedComment(closed, CommentPlace(2, OLD + 30, first), ann.pk, "ann", "Reply"),
        ]
    )

    def post(name, who, title, link="", text="", slugs=()):
        ids[name] = articles.post(who.pk, who.username, title, link, slugs, text=text, is_limited=False).id
        return ids[name]

    def say(name, on, who, text, parent=None):
        ids[name] = comments.post(ids[on], who.pk, who.username, text, parent=ids.get(parent))
        return ids[name]

    post("open", ann, "Open to votes", "https://example.org/open", slugs=("cpp", "old-web"))
    for who, choice in ((bob, Choice.VOTE), (zhang, Choice.OPPOSE), (cid, Choice.VOTE)):
        repository.votes.cast(ids["open"], who.pk, choice)
    say("top", "open", bob, "First `code`")
    say("stub", "open", cid, f"{SECRET}deleted")
    say("below", "open", zhang, "下面", "stub")
    say("bad", "open", cid, f"{SECRET}removedcomment", "below")
    say("gone", "open", dee, "By one who left", "top")
    comments.cast(ids["top"], ann.pk, Choice.VOTE)
    comments.cast(ids["top"], cid.pk, Choice.OPPOSE)
    comments.delete(ids["stub"], cid.pk)
    comments.remove(ids["bad"], moderator, "Rude")
    groups.merge("old-web", "web", moderator, "Same")

    post("text", zhang, "只有文字", text="A text of 张三", slugs=("web",))
    post("removed", bob, "Spam title", f"https://{SECRET}removed.example/", f"{SECRET}removedtext", ("web",))
    say("on removed", "removed", ann, f"{SECRET}commentonremoved")
    articles.remove(ids["removed"], moderator, "Spam")
    post("withdrawn", bob, "Withdrawn title", text=f"{SECRET}withdrawntext")
    articles.withdraw(ids["withdrawn"], Actor(bob.pk, "bob"))
    post("left", dee, "By one who left", "https://example.org/left")
    post("redacted", cid, f"{SECRET}redactedtitle", "https://example.org/redacted", "Harmless")
    articles.remove(ids["redacted"], moderator, "Doxing")
    repository.redactions.redact_article(ids["redacted"], [f"{SECRET}redactedtitle"], moderator, "Law")
    post(
        "secret",
        ann,
        f"{SECRET}closedarticle",
        text=f"{SECRET}closedarticletext",
        slugs=(f"{SECRET}-closed", "web"),
    )
    say("in secret", "secret", bob, f"{SECRET}closedcomment")
    comments.lock(ids["secret"], moderator, f"{SECRET}closedreason")
    post("target", ann, "Kept", "https://example.org/kept", slugs=("web",))
    post("merged", bob, "Merged title", "https://example.org/merged")
    say("on target", "target", bob, "On the kept one")
    say("on merged", "merged", ann, "On the merged one")
    repository.votes.cast(ids["merged"], zhang.pk, Choice.VOTE)
    [*repository.merges.merge(ids["merged"], ids["target"], moderator, "Same")]
    comments.lock(ids["text"], moderator, "Enough")

    repository.flags.set(ids["open"] * 1_000_000, bob.pk, FlagReason.SPAM, f"{SECRET}flagwords")
    HeldPost.objects.create(
        author=bob, title=f"{SECRET}heldtitle", text=f"{SECRET}held", link=f"https://{SECRET}held"
    )
    MemberNote.objects.create(member=bob, author=mod, text=f"{SECRET}note")
    Ban.objects.begin(cid, BanScope.POSTING, "Rude", ends_at=timezone.now() + timedelta(3), moderator_id=mod.pk)
    for one, inviter in ((bob, ann), (zhang, bob)):
        Invitation.objects.create(
            inviter=inviter, invited=one, code=f"{SECRET}{one.pk}", expires_at=timezone.now()
        )
    for one, about in ((ann, "I am ann"), (cid, f"{SECRET}aboutbanned"), (dee, f"{SECRET}aboutleft")):
        User.objects.filter(pk=one.pk).update(about=about)
    hiding = Hiding.of(f"~{SECRET}hiddenword").changed(Hidden.ARTICLE, ids["open"], hidden=True)
    User.objects.filter(pk=zhang.pk).update(hidden=hiding.text, followed_groups="web", hidden_groups="cpp")
    for article in ("open", "closed", "secret"):
        repository.members.save(bob.pk, ids[article], wanted=True)

    source = Source.objects.create(name="older", format="lobsters", host="older.example")
    rows = (
        (Kind.ARTICLE, "abc123", ids["closed"]), (Kind.ARTICLE, "def456", ids["merged"]),
        (Kind.ARTICLE, f"{SECRET}1", ids["secret"]), (Kind.COMMENT, "ccc111", ids["top"]),
        (Kind.COMMENT, f"{SECRET}2", ids["in secret"]), (Kind.MEMBER, "Annie", ann.pk),
        (Kind.MEMBER, f"{SECRET}3", lurker.pk), (Kind.MEMBER, f"{SECRET}4", dee.pk), (Kind.GROUP, "c++", "cpp"),
        (Kind.GROUP, f"{SECRET}5", f"{SECRET}-closed"), (Kind.PATH, "/x?y=1", f"article {ids['closed']}"),
        (Kind.PATH, f"/{SECRET}-title", f"article {ids['secret']}"),
    )  # fmt: skip
    for kind, old, new in rows:
        Arrival.objects.create(source=source, kind=kind, old_id=old, new_id=str(new))
    MovedAccount.objects.create(user=zhang, source=source, address=f"{SECRET}@moved.example")
    account_deletion.begin(dee.pk)
    while account_deletion.advance_all(60):
        pass
    return ids
