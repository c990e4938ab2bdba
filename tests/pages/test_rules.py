"""Moderators' rules: what they do to posts, names and flags, what a trial says, and how moderators manage them."""

import json
import time
from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings as examples, strategies as st

from accounts import account_deletion
from accounts.models import Ban, BanScope, HeldPost, ModeratorRule, TextDigest, User, WaitingAccount
from articles.domain.comments import CommentOrder
from articles.domain.errors import RuleNotTried, RulesFull
from articles.domain.moderation_log import Action, rule_actor
from articles.models import KnownStore
from articles.views.lists.member_export import lines
from articles.web import wiring
from articles.web.rules import acting, matching
from articles.web.rules.matching import Definition, RuleAct, Subject
from moderation.rules import pages
from moderation.rules.trying import attempt
from tests.cases import for_each
from tests.clock import Clock
from tests.factories import actor, browser_of, comment_on, link, member, post, vote_by_trusted
from tests.store_state import client_of

RULES = "/moderation/rules/"
SPAM = {"words": ("buy pills",)}


@pytest.fixture
def clock(site_store, monkeypatch):
    """A clock of the store, which moves only when a test advances it."""
    clock = Clock(time.time())
    monkeypatch.setattr(wiring, "connect", partial(wiring.connect, clock=clock))
    wiring.forget_repositories()
    return clock


@pytest.fixture
def rule(carol):
    """Return a function that writes a rule and switches it on."""

    def write(subject, act, name="Pills", **conditions):
        written = pages.create(
            name, Definition(Subject(subject), RuleAct(act), **conditions or SPAM), actor(carol)
        )
        pages.try_out(written)
        pages.switch_on(written, 0, actor(carol))
        return written

    return write


def article_form(number=1, title="Buy pills", **fields):
    return {"title": title, "link": link(number)} | fields


def count_articles(store):
    return store.imports.count()


def counts(written):
    written.refresh_from_db()
    return written.hits, written.reversals


def latest(store, article):
    return store.moderation_log.get_for_article(article).entries[0]


# What rules do


def test_a_rule_refuses_an_article_with_its_sentence(site_store, bob, rule):
    written = rule("article", "refuse", sentence="No adverts here.", **SPAM)

    response = browser_of(bob).post("/post/", article_form())

    assert response.status_code == 400
    assert "An automatic rule refuses this: “No adverts here”." in response.text
    assert "Buy pills" in response.text
    assert (count_articles(site_store), counts(written)) == (0, (1, 0))
    assert browser_of(bob).post("/post/", article_form(title="Buy bread")).status_code == 302


def test_a_rule_refuses_a_comment_and_an_edit_to_what_it_refuses(site_store, article, bob, rule):
    rule("comment", "refuse", sentence="No adverts.", **SPAM)
    address = f"/articles/{article}/comments/"

    refused = browser_of(bob).post(address, {"text": "buy PILLS"})
    assert "No adverts" in refused.text
    mine = comment_on(site_store, article, "Fine", bob.pk)
    edited = browser_of(bob).post(f"/comments/{mine}/edit/", {"text": "Buy pills!"})

    assert "No adverts" in edited.text
    assert [one.text for one in site_store.comments.list_by(bob.pk)] == ["Fine"]


def test_rules_do_not_apply_to_moderators(site_store, carol, rule):
    written = rule("article", "refuse", sentence="No.", **SPAM)

    assert browser_of(carol).post("/post/", article_form()).status_code == 302
    assert counts(written) == (0, 0)


def test_a_rule_that_is_off_or_has_expired_does_nothing(site_store, bob, carol, rule):
    written = rule("article", "refuse", sentence="No.", **SPAM)
    ModeratorRule.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    acting.forget()
    assert browser_of(bob).post("/post/", article_form(1)).status_code == 302

    ModeratorRule.objects.update(expires_at=None)
    pages.switch_off(written, actor(carol))
    assert browser_of(bob).post("/post/", article_form(2)).status_code == 302


def test_a_held_article_is_shown_to_its_author_and_to_moderators_only(site_store, bob, alice, carol, rule):
    rule("article", "hold")
    site_store.groups.create("cpp", "C++")

    sent = browser_of(bob).post("/post/", article_form(text="My text", groups="cpp"), follow=True)

    assert sent.redirect_chain == [("/mine/held/", 302)]
    assert all(word in sent.text for word in ("Buy pills", "My text", "Waiting for a moderator"))
    assert "Buy pills" not in browser_of(alice).get("/mine/held/").text
    queue = browser_of(carol).get("/moderation/queue/").text
    assert all(word in queue for word in ("Buy pills", "My text", "Automatic rule: Pills", "Queue (1)", ">C++<"))
    assert count_articles(site_store) == 0


def test_a_post_that_is_sent_twice_is_held_once(site_store, bob, rule):
    written = rule("article", "hold")

    for _ in range(2):
        browser_of(bob).post("/post/", article_form())

    assert (HeldPost.objects.count(), counts(written)) == (1, (1, 0))


def decide(moderator, decision, **fields):
    held = HeldPost.objects.get()
    data = {"decision": decision} | fields
    return browser_of(moderator).post(f"/moderation/queue/held/{held.pk}/", data, follow=True)


def test_approving_posts_it_in_the_author_s_name_now_and_counts_as_a_reversal(site_store, bob, carol, rule, clock):
    written = rule("article", "hold")
    browser_of(bob).post("/post/", article_form(text="My text"))
    clock.advance(3600)

    shown = decide(carol, "approve")

    (number,) = [article for article, _ in site_store.members.iterate_posted(bob.pk)]
    posted = site_store.articles.get(number, with_text=True)
    assert "It has been posted in the name of bob." in shown.text
    assert (posted.poster_name, posted.title, posted.text) == ("bob", "Buy pills", "My text")
    assert posted.posted_at == pytest.approx(clock(), abs=1)
    assert counts(written) == (1, 1)
    held = HeldPost.objects.get()
    assert (held.state, held.text, held.posted_as) == ("posted", "", str(number))
    inbox = browser_of(bob).get("/inbox/").text
    assert "A moderator approved it" in inbox
    assert "in the meantime" in decide(carol, "approve").text
    assert count_articles(site_store) == 1


def test_refusing_tells_the_author_why(site_store, bob, carol, rule):
    written = rule("article", "hold")
    browser_of(bob).post("/post/", article_form())

    assert "Give a reason" in decide(carol, "refuse").text
    decide(carol, "refuse", reason="It is an advert.")

    assert User.objects.get(pk=bob.pk).news == 1
    assert all(word in browser_of(bob).get("/inbox/").text for word in ("Buy pills", "It is an advert."))
    browser_of(bob).post("/inbox/read/", {"until": site_store.store.now() + 1})
    assert "It is an advert." in browser_of(bob).get("/mine/held/").text
    assert (count_articles(site_store), counts(written)) == (0, (1, 0))


def test_a_held_comment_is_posted_as_a_reply(site_store, article, alice, bob, carol, rule):
    rule("comment", "hold")
    parent = comment_on(site_store, article, "First", alice.pk)
    browser_of(bob).post(f"/articles/{article}/comments/", {"text": "Buy pills", "parent": parent})
    assert HeldPost.objects.get().parent == str(parent)

    decide(carol, "approve")

    thread = site_store.comments.get_thread(article, CommentOrder.OLDEST)
    assert [(one.text, one.parent, one.author_name) for one in thread.comments][1] == ("Buy pills", parent, "bob")


def test_a_banned_author_s_held_post_cannot_be_approved(site_store, bob, carol, rule):
    rule("article", "hold")
    browser_of(bob).post("/post/", article_form())
    Ban.objects.begin(bob, BanScope.POSTING, "Spam", ends_at=None, moderator_id=carol.pk)

    decide(carol, "approve")

    assert (HeldPost.objects.get().state, count_articles(site_store)) == ("waiting", 0)


def test_moderators_do_not_decide_on_their_own_held_posts(site_store, carol, rule):
    written = rule("article", "hold")
    HeldPost.objects.create(author=carol, rule=written, title="Buy pills", text="Written before becoming one")

    assert "Another moderator has to decide." in decide(carol, "approve").text
    assert (HeldPost.objects.get().state, count_articles(site_store)) == ("waiting", 0)


def test_authors_withdraw_only_their_own_held_posts(site_store, alice, bob, rule):
    rule("article", "hold")
    browser_of(bob).post("/post/", article_form())
    address = f"/mine/held/{HeldPost.objects.get().pk}/withdraw/"

    browser_of(alice).post(address)
    assert HeldPost.objects.count() == 1
    browser_of(bob).post(address)
    assert HeldPost.objects.count() == 0


def test_an_edit_to_what_a_rule_holds_is_refused(site_store, bob, rule):
    rule("article", "hold")
    mine = post(site_store, 1, poster=bob.pk)

    response = browser_of(bob).post(f"/articles/{mine}/edit/", article_form())

    assert "moderators would have to approve it first" in response.text
    assert site_store.articles.get(mine).title != "Buy pills"


def test_a_flag_by_a_rule_waits_in_the_queue_without_weight(site_store, bob, carol, rule, settings):
    written = rule("article", "flag")
    browser_of(bob).post("/post/", article_form())

    (entry,) = site_store.flags.get_page().entries
    assert (entry.weight, [flag.words for flag in entry.flags]) == (0, ["Pills"])
    assert "Automatic rule: Pills" in browser_of(carol).get("/moderation/queue/").text
    decision = {"subject": entry.subject, "seen": site_store.store.now() + 1, "decision": "keep"}
    for _ in range(2):
        browser_of(carol).post("/moderation/queue/decide/", decision)

    assert (site_store.flags.count(), counts(written)) == (0, (1, 1))
    assert list(site_store.audit.run()) == []


def test_flags_by_rules_never_remove(site_store, bob, alice, rule, settings):
    settings.FLAGS_TO_REMOVE = 1.5
    wiring.forget_repositories()
    alice.trust()
    rule("article", "flag")
    browser_of(bob).post("/post/", article_form())
    (entry,) = site_store.flags.get_page().entries
    browser_of(alice).post(f"/articles/{entry.article.id}/flag/", {"reason": "spam"})

    assert site_store.articles.get(entry.article.id).removed is None


def test_a_rule_puts_articles_into_a_group_and_out_of_another(site_store, bob, carol, rule):
    for slug in ("adverts", "news"):
        site_store.groups.create(slug, slug.title(), actor(carol))
    into = rule("article", "join", name="Into", group="adverts", **SPAM)
    out = rule("article", "leave", name="Out", group="news", scope="news", **SPAM)
    browser_of(bob).post("/post/", article_form(groups=["news"]))
    ((number, _),) = site_store.members.iterate_posted(bob.pk)

    assert site_store.articles.get(number).groups == ("adverts",)
    entry = latest(site_store, number)
    assert (entry.action, entry.rule) == (Action.GROUPS, "Out")
    assert "The rule “Out”" in browser_of().get(f"/articles/{number}/").text
    change = {"groups": ["news"], "was": "adverts", "reason": "It is news"}
    browser_of(carol).post(f"/articles/{number}/groups/", change)
    assert site_store.articles.get(number).groups == ("news",)
    assert (counts(into), counts(out)) == ((1, 1), (1, 1))


def test_a_rule_locks_once_and_unlocking_is_a_reversal(site_store, article, alice, bob, carol, rule):
    written = rule("report", "lock", sentence="A moderator will look at it.", words=("home address",))
    flag = {"reason": "against-rules", "words": "It has my home address"}
    browser_of(bob).post(f"/articles/{article}/flag/", flag)
    assert site_store.articles.get(article).locked == "A moderator will look at it."
    assert latest(site_store, article).actor_name == rule_actor("Pills").name

    browser_of(carol).post(f"/articles/{article}/unlock/", {"reason": "It is not"})
    comment = comment_on(site_store, article, "A comment", alice.pk)
    browser_of(bob).post(f"/comments/{comment}/flag/", flag)

    assert site_store.articles.get(article).locked is None
    assert (counts(written), site_store.flags.count()) == ((1, 1), 2)


def test_a_rule_refuses_a_flag(site_store, article, bob, rule):
    rule("report", "refuse", sentence="Say more.", age_days=10)

    response = browser_of(bob).post(f"/articles/{article}/flag/", {"reason": "spam"})

    assert "Say more" in response.text
    assert site_store.flags.count() == 0


SIGN_UP = {"username": "pillking", "password1": "fjord-quartz-9", "password2": "fjord-quartz-9"}


def test_a_rule_refuses_names(site_store, db, rule):
    rule("name", "refuse", sentence="Choose another name.", pattern="pill")

    assert "Choose another name" in browser_of().post("/signup/", SIGN_UP).text
    assert not User.objects.filter(username="pillking").exists()


def test_a_rule_lets_accounts_wait_for_approval(site_store, db, carol, rule):
    rule("name", "hold", pattern="pill")

    shown = browser_of().post("/signup/", SIGN_UP, follow=True)

    assert "A moderator has to approve it first." in shown.text
    assert not WaitingAccount.objects.get().user.is_active
    assert "pillking" in browser_of(carol).get("/moderation/members/").text


# Conditions


def posted(author, number, **fields):
    """Return whether the author's article passes."""
    return (
        browser_of(author)
        .post("/post/", article_form(number, **{"title": f"Title {number}"} | fields))
        .status_code
        == 302
    )


def test_hosts_and_numbers_of_links(site_store, bob, rule):
    rule("article", "refuse", name="Host", sentence="No.", hosts=("bad.example",))
    rule("article", "refuse", name="Many", sentence="No.", links=3)

    assert not posted(bob, 1, link="https://www.bad.example/x")
    assert not posted(bob, 2, text="See https://bad.example/")
    assert posted(bob, 3, link="https://notbad.example/")
    assert not posted(bob, 4, text="https://a.example/ and <https://b.example/>")
    assert posted(bob, 5, text="https://a.example/ and [rules](/rules/) and @alice")


def test_age_points_and_first_posts(site_store, alice, bob, rule):
    User.objects.filter(pk=bob.pk).update(date_joined=timezone.now() - timedelta(days=9))
    rule("article", "flag", name="Young", age_days=10)
    rule("article", "flag", name="Poor", points=2)
    rule("article", "flag", name="First", is_first=True)
    flagged = lambda: [flag.words for entry in site_store.flags.get_page().entries for flag in entry.flags]  # noqa: E731

    assert posted(bob, 1)
    assert flagged() == ["First / Poor / Young"]
    ((first, _),) = site_store.members.iterate_posted(bob.pk)
    vote_by_trusted(site_store, first, 3)
    User.objects.filter(pk=bob.pk).update(date_joined=timezone.now() - timedelta(days=11))
    assert posted(bob, 2)
    assert flagged() == ["First / Poor / Young"]


def test_posts_in_a_time(site_store, bob, rule, clock):
    rule("article", "refuse", sentence="Slower.", posts=2, hours=1)

    assert [posted(bob, number) for number in range(3)] == [True, True, False]
    clock.advance(3601)
    assert posted(bob, 4)


def test_a_text_repeated_by_other_members(site_store, article, alice, bob, carol, rule):
    text = "The same long text about a product that you need"
    browser = browser_of(alice)
    browser.post(f"/articles/{article}/comments/", {"text": text})
    assert TextDigest.objects.count() == 0
    rule("comment", "refuse", sentence="Again.", members=1, days=7)

    browser.post(f"/articles/{article}/comments/", {"text": text + "."})
    assert TextDigest.objects.count() == 1
    again = browser_of(bob).post(f"/articles/{article}/comments/", {"text": text.upper() + "!"})
    assert "Again" in again.text
    assert browser_of(bob).post(f"/articles/{article}/comments/", {"text": "Thanks!"}).status_code == 302
    TextDigest.objects.update(noted_at=timezone.now() - timedelta(days=8))
    assert browser_of(bob).post(f"/articles/{article}/comments/", {"text": text}).status_code == 302


# A trial


WORDS = ("pills", "bread", "买药", "news")
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "words": st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True).map(tuple),
        "pattern": st.sampled_from(["pi[l1]+s", r"\bnews\b", "药.?"]),
        "hosts": st.sampled_from([("a.example",), ("b.example", "a.example")]),
        "links": st.integers(1, 3),
        "is_first": st.booleans(),
        "age_days": st.sampled_from([1, 20]),
        "scope": st.sampled_from(["news"]),
        "repeats": st.just(True),
        "often": st.integers(1, 2),
    },
)
POSTS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(
            [
                "about pills and more of them",
                "news of bread from all over",
                "不要买药了，不要买药了，不要买药了",
                "p1lls",
            ]
        ),
        st.sampled_from(["https://a.example/", "https://x.b.example/", ""]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
    unique=True,
)


@pytest.fixture
def fresh(site_store, clock, alice, bob, mallory, carol):
    """Return a function that empties the store and forgets all rules, between examples."""

    def begin():
        client_of(settings.STORE_URL).flushdb()
        wiring.forget_repositories()
        for model in (ModeratorRule, HeldPost, TextDigest, KnownStore):
            model.objects.all().delete()
        acting.forget()
        return wiring.repository()

    return begin


@examples(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conditions=CONDITIONS, posts=POSTS)
@example(conditions={"repeats": True}, posts=[(n, "about pills and more of them", "", False) for n in (0, 1, 2)])
@example(
    conditions={"often": 1, "is_first": False},
    posts=[(0, text, "", False) for text in ("p1lls", "about pills and more of them")],
)
def test_a_trial_says_what_happens_to_the_same_post(fresh, clock, alice, bob, mallory, carol, conditions, posts):
    store, authors = fresh(), (alice, bob, mallory)
    repeats, often = conditions.pop("repeats", False), conditions.pop("often", 0)
    numbers = ({"members": 1, "days": 7} if repeats else {}) | ({"posts": often, "hours": 1} if often else {})
    definition = Definition(Subject.COMMENT, RuleAct.FLAG, **conditions, **numbers)
    store.groups.create("news", "News")
    articles = {is_news: post(store, is_news, ("news",) if is_news else ()) for is_news in (False, True)}
    written = pages.create("Trial", definition, actor(carol))
    pages.try_out(written)
    pages.switch_on(written, 0, actor(carol))
    for author, text, host, is_news in posts:
        clock.advance(60)
        address = f"/articles/{articles[is_news]}/comments/"
        assert browser_of(authors[author]).post(address, {"text": f"{text} {host}"}).status_code == 302

    flagged = {entry.subject for entry in store.flags.get_page().entries}
    trial = attempt(definition)
    assert ({one.comment for one in trial.examples}, trial.matching) == (flagged, len(flagged))
    assert (trial.looked_at, trial.is_complete) == (len(posts), True)


# Managing


def form_of(**fields):
    return {"subject": "article", "act": "refuse", "sentence": "No adverts.", "words": "buy pills"} | fields


def test_a_moderator_writes_tries_and_switches_on_a_rule(site_store, alice, bob, carol):
    post(site_store, 1)
    site_store.articles.post(alice.pk, "alice", "Buy pills", "https://example.org/pills")
    browser = browser_of(carol)

    page = browser.post(RULES + "new/", form_of(name="Pills"), follow=True)
    written = ModeratorRule.objects.get()
    address = f"{RULES}{written.pk}/"
    assert (page.redirect_chain, written.is_on) == ([(address, 302)], False)
    assert "Try this version" in page.text
    browser.post(address, {"act": "on", "days": "7"})
    assert not ModeratorRule.objects.get().is_on
    tried = browser.post(address, {"act": "try"}).text
    assert "It would have acted on 1 of the 2 that it looked at." in " ".join(tried.split())
    assert "Buy pills https://example.org/pills" in tried
    assert "The rule is on." in browser.post(address, {"act": "on", "days": "7"}, follow=True).text

    assert browser_of(bob).post("/post/", article_form(5)).status_code == 400
    (on, wrote) = [
        entry for entry in site_store.moderation_log.get_page().entries if entry.action == "change-rule"
    ]
    assert (on.title, on.details) == ("Pills", {"from": "off", "to": "on", "days": "7"})
    assert wrote.details == {"from": "0", "to": "1"}
    log = browser_of().get("/moderation/").text
    assert "switched on the automatic rule" in log
    assert "buy pills" not in log


def test_a_change_is_a_version_that_is_off_until_it_was_tried(site_store, carol, alice, rule):
    written = rule("article", "refuse", sentence="No.", **SPAM)
    address = f"{RULES}{written.pk}/"
    other = member("erin", moderator=True)

    browser_of(other).post(address + "edit/", form_of(words="buy bread"))
    written.refresh_from_db()

    assert (written.version, written.is_on, written.current.author) == (2, False, other)
    with pytest.raises(RuleNotTried):
        pages.switch_on(written, 0, actor(carol))
    shown = browser_of(carol).get(address).text
    assert all(word in shown for word in ("buy pills", "buy bread", "Owner: erin", "Version 1 by carol"))
    browser_of(other).post(address + "edit/", form_of(words="buy bread"))
    assert written.versions.count() == 2


WRONG = {
    "no condition": ({"words": ""}, "Set at least one condition."),
    "no sentence": ({"sentence": ""}, "Enter what the member reads."),
    "no group": ({"act": "join"}, "Choose a group."),
    "an act that a comment cannot have": ({"subject": "comment", "act": "lock"}, "A rule cannot do this here."),
    "a condition that a name cannot have": (
        {"subject": "name", "links": "1"},
        "This condition does not apply here.",
    ),
    "half a condition": ({"posts": "2"}, "Enter both numbers, or neither."),
    "no word": ({"words": "buy\n!!"}, "has no letters or digits"),
    "no pattern": ({"pattern": "("}, "This is not a regular expression"),
    "a backreference": ({"pattern": r"(a)\1"}, "This is not a regular expression"),
    "a pattern for everything": ({"pattern": "a*"}, "This pattern matches every text."),
    "a large pattern": ({"pattern": r"\w{100}"}, "This pattern is too large"),
    "a slow pattern": ({"pattern": "[ab]*a[ab]{90}c"}, "This pattern would be slow"),
    "no host": ({"hosts": "not a host"}, "host"),
    "no name": ({"name": " "}, "Enter a name for the rule."),
    "a long name": ({"name": "a" * 61}, "The limit is 60."),
    "a name for another actor": ({"name": "*"}, "The name cannot contain"),
}


@for_each("fields, error", WRONG.values())
def test_what_a_rule_cannot_say(site_store, carol, fields, error):
    response = browser_of(carol).post(RULES + "new/", form_of(name="A rule") | fields)

    assert response.status_code == 400
    assert error in response.text
    assert not ModeratorRule.objects.exists()


def test_no_more_rules_are_on_than_one_pass_can_take(site_store, carol, rule, monkeypatch):
    monkeypatch.setattr(matching, "MOST_ON", 1)
    written = rule("article", "flag")
    pages.switch_on(written, 7, actor(carol))
    with pytest.raises(RulesFull):
        rule("article", "flag", name="Another")


def test_without_rules_posts_cost_no_query_or_round_trip(site_store, bob, django_assert_num_queries, monkeypatch):
    acting.check_name("")
    facts = acting.MemberFacts.of_comment(bob, 1, "A text")
    with django_assert_num_queries(0):
        acting.judge(bob, facts).carry_out(1, 1, is_new=True)


def test_what_expires_is_deleted_by_housekeeping(site_store, alice, bob, rule):
    rule("article", "hold")
    browser_of(bob).post("/post/", article_form())
    TextDigest.objects.note("0" * 32, bob.pk)
    long_ago = timezone.now() - timedelta(days=31)
    TextDigest.objects.update(noted_at=long_ago)
    HeldPost.objects.update(held_at=long_ago)

    assert (HeldPost.objects.expire(), TextDigest.objects.expire()) == (0, 1)
    HeldPost.objects.update(decided_at=long_ago)
    assert HeldPost.objects.expire() == 1


def test_deleting_the_account_deletes_what_is_held(site_store, bob, rule):
    rule("article", "hold")
    browser_of(bob).post("/post/", article_form())

    account_deletion.begin(bob.pk)

    assert HeldPost.objects.count() == 0


def test_the_export_has_what_is_held(site_store, bob, rule):
    rule("article", "hold")
    browser_of(bob).post("/post/", article_form(text="My text"))

    (held,) = json.loads("".join(lines(bob, site_store)))["held_posts"]
    assert (held["title"], held["text"], held["state"]) == ("Buy pills", "My text", "waiting")


def test_conditions_that_most_rules_leave_empty_are_folded_while_they_are(site_store, rule, carol):
    usual = rule("article", "hold")
    other = rule("article", "hold", name="Links", links=3)

    for path, is_open in (("new/", False), (f"{usual.pk}/edit/", False), (f"{other.pk}/edit/", True)):
        folded, _summary, inside = browser_of(carol).get(RULES + path).text.partition("<summary>More conditions")
        assert folded.rstrip().endswith('<details class="fold" open>') == is_open, path
        assert 'name="words"' in folded
        assert 'name="links"' in inside
