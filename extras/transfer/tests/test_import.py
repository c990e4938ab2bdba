"""`manage.py import_articles`: rows accepted, refused and imported again."""

import json
import time

import pytest
from django.core.management.base import CommandError

from accounts import account_deletion
from accounts.models import User
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER
from articles.management.base import Progress
from extras.transfer.tests.rows import contents, row
from tests.internals import Store, failing, meanwhile
from tests.store_state import hold_import_lock, import_lock_holder, problems, release_import_lock, set_clock

HOUR = 3600


def only_article(repository):
    (article,) = repository.imports.iterate()
    return article


def test_imported_articles_keep_their_time_counts_groups_and_poster(run, site_store, write):
    out = run("import_articles", write([row(5, time=1_600_000_000.123, votes=-3, groups=["Web", "C++"])]))
    article = only_article(site_store)
    assert (article.title, article.link) == ("Article 5", "https://example.org/5")
    assert (article.posted_at, article.votes, article.opposes) == (1_600_000_000.123, 1, 4)
    assert (article.groups, article.poster_name) == (("web", "cpp"), "poster2")
    assert "1 article imported, 0 already present." in out
    assert problems(site_store) == []


def test_posters_become_members_without_login(run, site_store, write):
    run("import_articles", write([row(1, poster="Alice"), row(2, poster="alice"), row(3, poster="admin")]))
    admin, alice = User.objects.order_by("canonical_name")
    assert (alice.username, alice.imported, alice.has_usable_password()) == ("Alice", True, False)
    assert admin.username.startswith("admin-")
    articles = list(site_store.imports.iterate())
    assert [a.poster for a in articles] == [alice.pk, alice.pk, admin.pk]
    assert [a.poster_name for a in articles] == ["Alice", "Alice", admin.username]
    assert [a.id for a in site_store.members.get_posted(alice.pk).articles] == [articles[1].id, articles[0].id]


def delete(user):
    account_deletion.begin(user.pk)
    account_deletion.advance_all(60)


def test_articles_of_a_deleted_member_are_attributed_to_a_deleted_member(run, site_store, write):
    bob = User.objects.create_user("bob", password="correct horse battery staple")
    delete(bob)

    run("import_articles", write([row(1, poster="bob"), row(2, poster="Carol")]))

    assert next((a.poster, a.poster_name) for a in site_store.imports.iterate()) == (DELETED_MEMBER, "")
    assert not User.objects.filter(canonical_name="bob", left_at=None).exists()
    assert problems(site_store) == []


def test_a_member_deleted_between_two_batches_is_not_recreated(run, site_store, write, small_batches):
    def delete_bob():
        for bob in User.objects.filter(username="bob", left_at=None):
            delete(bob)

    with meanwhile(type(User.objects), "bulk_create_imported", delete_bob):
        run("import_articles", write([row(number, poster="bob") for number in range(7)]))

    assert {(a.poster, a.poster_name) for a in site_store.imports.iterate()} == {(DELETED_MEMBER, "")}
    assert problems(site_store) == []


def test_posters_of_other_names_are_counted_and_written_to_file(run, site_store, write, tmp_path, small_batches):
    User.objects.create_user("Carol", password="correct horse battery staple")
    posters = ["Alice", "bob!", "ALICE", "bob!", "carol", "admin", "\u62c9\tx", "Ａlice", "dave", None]
    source = write([row(number, poster=poster) for number, poster in enumerate(posters)])
    names = tmp_path / "names.jsonl"

    out = run("import_articles", source, names=str(names))

    assert "4 members renamed because their names are not allowed here." in out
    assert "2 members assigned to an account whose name differs only in case." in out
    assert "--names" not in out
    told = [json.loads(line) for line in names.read_text("utf-8").splitlines()]
    shown = dict(zip(posters, (a.poster_name for a in site_store.imports.iterate()), strict=True))
    assert {one["name"]: one["account"] for one in told} == {
        name: account for name, account in shown.items() if name and name != account
    }
    assert [one["name"] for one in told if one["change"] == "case"] == ["ALICE", "carol"]
    assert {one["change"] for one in told} == {"case", "renamed"}
    assert "with --names FILE" in run("import_articles", source)


def test_bad_rows_are_skipped_and_reported_by_line_and_cause(run, site_store, write):
    rows = [
        b"{", row(1), b"", row(2, link="javascript:alert(1)"), row(3, title=None), b"[]", row(4),
        *(row(n, votes="many") for n in range(5, 12)),
    ]  # fmt: skip
    out = run("import_articles", write(rows))
    assert [a.title for a in site_store.imports.iterate()] == ["Article 1", "Article 4"]
    assert "2 articles imported, 0 already present." in out
    assert "11 rows rejected:" in out
    assert "7  The votes are not a whole number. (votes-kind: lines 8, 9, 10, 11, 12, …)" in out
    assert "1  The line is not valid JSON. (row-json: line 1)" in out
    assert "1  The link must start with http:// or https://. (link-scheme: line 4)" in out
    assert "1  The field 'title' is missing. (title-missing: line 5)" in out
    assert "1  The line is not a JSON object. (row-object: line 6)" in out


def test_the_report_lists_every_refused_row_and_group(run, site_store, write, tmp_path):
    report = tmp_path / "report.txt"
    rows = [*(row(n, votes=None) for n in range(8)), row(8, groups=["a b", "web"])]
    out = run("import_articles", write(rows), report=str(report))
    lines = report.read_text().splitlines()
    assert lines[:8] == [f"{n}\tvotes-missing\tThe field 'votes' is missing." for n in range(1, 9)]
    assert lines[8].startswith("9\tslug-form\t")
    assert len(lines) == 9
    assert "1 group left out of their articles:" in out
    assert only_article(site_store).groups == ("web",)


def test_the_report_cannot_overwrite_the_imported_file(run, site_store, write):
    file = write([row(1)])
    before = file.read_bytes()
    with pytest.raises(CommandError, match="would overwrite"):
        run("import_articles", file, report=str(file))
    assert file.read_bytes() == before


def test_when_nothing_can_be_imported_the_command_fails(run, site_store, write):
    with pytest.raises(CommandError, match="Nothing could be imported") as caught:
        run("import_articles", write([b"{", row(1, votes=None)]))
    assert caught.value.returncode == 1
    for rows, options in (([], {}), ([b"{"], {"shift_to_now": True})):
        with pytest.raises(CommandError, match="Nothing could be imported"):
            run("import_articles", write(rows), **options)
    assert site_store.imports.count() == 0


def test_text_is_unescaped_before_titles_and_links_are_checked(run, site_store, write):
    escaped = row(1, title="A &amp; B", link="https://example.org/?a&amp;b")
    run("import_articles", write([escaped]), unescape=True)
    assert (only_article(site_store).title, only_article(site_store).link) == ("A & B", "https://example.org/?a&b")


def test_shift_to_now_moves_all_articles_by_the_same_time(run, site_store, write):
    newest = row(30, time=1_600_000_000)
    later_but_bad = row(99, time=1_650_000_000, link="ftp://example.org/")
    older = row(10, time=1_600_000_000 - HOUR)
    began = time.time()
    run("import_articles", write([older, newest, later_but_bad, b"{"]), shift_to_now=True)
    first, second = site_store.imports.iterate()
    assert began - 1 <= second.posted_at <= time.time() + 1
    assert second.posted_at - first.posted_at == pytest.approx(HOUR, abs=0.002)
    assert problems(site_store) == []


def test_a_file_imported_again_is_shifted_by_the_same_time(run, site_store, write):
    rows = [row(n) for n in range(5)]
    run("import_articles", write(rows), shift_to_now=True)
    before = contents(site_store)
    set_clock(site_store, lambda: time.time() + HOUR)
    assert "0 articles imported, 5 already present." in run("import_articles", write(rows), shift_to_now=True)
    packed = write(rows, "articles.jsonl.gz")
    assert "0 articles imported, 5 already present." in run("import_articles", packed, shift_to_now=True)
    assert contents(site_store) == before


def test_a_concurrent_import_is_refused(run, site_store, write):
    hold_import_lock(site_store)
    with pytest.raises(CommandError, match="Another import is running"):
        run("import_articles", write([row(1)]))
    assert site_store.imports.count() == 0
    assert import_lock_holder(site_store) == "another"


def test_an_import_that_loses_its_lease_stops(run, site_store, write, small_batches):
    lost = meanwhile(Progress, "reach", lambda: hold_import_lock(site_store))
    with lost, pytest.raises(CommandError, match="Another import is running"):
        run("import_articles", write([row(n) for n in range(30)]))
    assert site_store.imports.count() < 30


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(("run", n) for n in (1, 3, 5)),
        *(("ask", n) for n in (1, 2)),
        *(("run_many", n) for n in (2, 4, 6)),
        *(("commands", n) for n in (1, 4, 7)),
        *(("pipeline", n) for n in (1, 5, 9)),
    ],
)
def test_an_import_interrupted_anywhere_is_completed_alike(run, site_store, write, small_batches, name, number):
    """Before a request of this kind to the store."""
    file = write([row(n, time=time.time() - HOUR * n) for n in range(7)])
    with failing(Store, name, at=number), pytest.raises(CommandError, match="Interrupted"):
        run("import_articles", file)
    release_import_lock(site_store)
    run("import_articles", file)
    assert sorted(a.link for a in site_store.imports.iterate()) == [f"https://example.org/{n}" for n in range(7)]
    profiles = [len(site_store.members.get_posted(user.pk).articles) for user in User.objects.order_by("username")]
    assert profiles == [3, 2, 2]
    assert site_store.lists.get_page(Order.TIME, slug="python").total == 7
    assert problems(site_store) == []


def history(count=40, points=30):
    """Return rows of a site where votes are worth more than on a new site."""
    now = time.time()
    return [row(n, time=now - 86400 * (100 + n / 10), votes=points, groups=[]) for n in range(1, count + 1)]


def test_a_finished_import_applies_a_fitting_weight(run, site_store, write):
    out = run("import_articles", write(history()))

    assert "30 votes now outweigh one day of age on the front page." in out
    assert site_store.parameters.get_current().votes_per_day == 30
    assert site_store.parameters.list_changes()[0].learnt_from == 40
    assert problems(site_store) == []
    assert "votes are now" not in run("import_articles", write(history()))
