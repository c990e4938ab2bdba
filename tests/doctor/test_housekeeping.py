"""Housekeeping and clocks."""

import pytest

from tests.doctor.examining import brief, levels, look
from tests.store_state import set_hot_rescored_at, set_notes, set_store_clock


def note(ago: float, site_store, error: str = "") -> dict[str, object]:
    return {"at": site_store.store.now() - ago, "seconds": 0.1, "result": "", "error": error}


def test_a_site_that_has_just_started_has_no_problem(site_store):
    assert levels("housekeeping", "runs") == ["note"]
    assert levels("housekeeping", "steps") == []
    assert levels("clocks", "clocks") == ["fine"]


@pytest.mark.parametrize(("ago", "level"), [(30, "fine"), (590, "fine"), (660, "warning")])
def test_housekeeping_that_has_not_run_recently_is_a_warning(site_store, ago, level):
    set_notes(site_store, {"clock": note(ago, site_store), "trim": note(90_000, site_store)})

    assert levels("housekeeping", "runs") == [level]


def test_housekeeping_may_miss_some_runs(site_store, settings):
    settings.TICK_SECONDS = 600
    set_notes(site_store, {"clock": note(2900, site_store)})

    assert levels("housekeeping", "runs") == ["fine"]


def test_a_failed_step_is_a_warning_and_damage_on_the_disk_an_error(site_store):
    failed = {"trim": note(9, site_store, "boom"), "verify": note(9, site_store, "StoreDamaged: byte 7")}
    set_notes(site_store, failed | {"clock": note(9, site_store)})

    findings = {finding.text: finding for finding in look("housekeeping", "steps")}

    found = {text: finding.level.label for text, finding in findings.items()}
    assert found == {"The last run of “trim” failed.": "warning", "The last run of “verify” failed.": "error"}
    assert findings["The last run of “verify” failed."].detail == "StoreDamaged: byte 7"


def test_a_stale_hot_list_is_a_warning(site_store):
    assert levels("housekeeping", "hot list") == []
    set_hot_rescored_at(site_store, site_store.store.now() - 3600)

    assert brief("housekeeping", "hot list") == [("warning", "The hot list has not been scored for a long time.")]


def test_clocks_that_disagree_are_a_warning(site_store):
    set_store_clock(site_store, site_store.store.now() + 7230)

    ((level, text),) = brief("clocks", "clocks")

    assert level == "warning"
    assert "This machine’s clock has been set back" in text
