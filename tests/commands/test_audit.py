"""`manage.py audit` and `manage.py repair`."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from articles.domain.errors import StoreUnavailable
from articles.domain.lists import Order
from articles.management.base import StoreCommand, progress
from articles.web import wiring
from tests.cast import MODERATOR
from tests.factories import imported
from tests.internals import failing
from tests.store_state import lose_changes, lose_from_ranking, lose_group_members, lose_ranking, ranking_values


@pytest.fixture
def used(site_store, bob):
    times = {n: 1_700_000_000 + 60 * n for n in range(1, 6)}
    site_store.imports.add([imported(n, at, votes=n, opposes=0, groups=("python",)) for n, at in times.items()])
    return site_store


def audit():
    """Return the output of the audit and its exit status."""
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit", stdout=out)
    return out.getvalue().splitlines(), ended.value.code


def test_a_sound_store_has_no_findings(run, used):
    assert run("audit") == "5 articles, no findings.\n"


def test_each_finding_is_a_line_and_the_exit_status_is_1(run, used):
    lose_from_ranking(used, 1, Order.TIME)
    lose_from_ranking(used, 2, Order.SCORE)
    lines, status = audit()
    names = used.store.shards.of(1)
    assert status == 1
    assert lines == [
        f"{names.article(1)}: time 1700000060, ranked nowhere",
        f"{names.article(2)}: score 1700000984, ranked nowhere",
        "2 findings.",
    ]


def test_the_audit_shows_its_progress_on_request(run, used, capfd):
    run("audit", progress=True)
    assert "articles/s" in capfd.readouterr().err


def test_a_store_failure_is_reported_in_one_sentence(run, used):
    told = pytest.raises(CommandError, match="The store cannot be used: it is loading")
    with failing(used.audit, "run", StoreUnavailable("it is loading")), told:
        run("audit")


@pytest.fixture
def follower(used, settings, tmp_path):
    """What writes the search index that this machine's audit compares."""
    settings.SEARCH_DIR = tmp_path / "search"
    wiring.forget_finder()
    follower = wiring.follower()
    follower.catch_up()
    yield follower
    follower.close()
    wiring.forget_finder()


def test_what_the_search_index_missed_is_found_and_what_it_has_not_reached_told(run, used, follower, monkeypatch):
    def follow(_seconds):
        follower.catch_up()
        wiring.forget_finder()  # so that the index is opened as it is now

    used.articles.edit(2, MODERATOR, "Edited", "https://example.org/edited", moderator=True)

    behind = "The search index is behind: 1 articles to enter."
    assert run("audit") == f"{behind}\n5 articles, no findings.\n"
    lose_changes(used)
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    outdated = "search index: article 2 is not in it as it is; `manage.py index` builds it again"
    assert audit() == ([outdated, "1 finding."], 1)
    used.articles.edit(2, MODERATOR, "Edited again", "https://example.org/edited", moderator=True)
    monkeypatch.setattr("time.sleep", follow)
    follow(0)
    assert run("audit") == "5 articles, no findings.\n"


def test_repair_restores_the_order_of_articles(run, used):
    lose_from_ranking(used, 1, Order.TIME)
    lose_group_members(used, "python")
    lose_ranking(used, Order.SCORE)
    assert run("repair") == "Rebuilt all lists from 5 articles.\n"
    assert run("audit") == "5 articles, no findings.\n"


def test_repair_adopts_another_weight_of_a_vote(run, used, settings):
    settings.VOTES_PER_DAY = 100
    wiring.forget_repositories()
    out = run("repair")
    assert out.splitlines() == [
        "A point now moves an article by 864 s: all articles were rescored.",
        "Rebuilt all lists from 5 articles.",
    ]
    top = used.lists.get_page(Order.SCORE).articles[0]
    assert ranking_values(used, Order.SCORE)[top.id] == top.posted_at + 864 * top.points
    assert run("audit") == "5 articles, no findings.\n"
    assert "anew" not in run("repair")


def test_a_finding_is_printed_before_the_total_is_known(capsys):
    with progress(unit="articles", shown=False) as bar:
        assert StoreCommand().print_findings(["odd"], bar) == 1

    assert capsys.readouterr().out == "odd\n"
