"""`manage.py accept_clock`."""

import pytest

from tests.store_state import set_clock


@pytest.mark.parametrize(
    ("seconds", "sentence"), [(7200.5, "set ahead by 2 h 0 min."), (-90061.5, "set back by 1 d 1 h.")]
)
def test_the_stores_clock_is_set_to_this_machines(run, site_store, seconds, sentence):
    now = site_store.clock.compare().store
    set_clock(site_store, now + seconds)

    assert run("accept_clock") == f"The store's clock was {sentence}\n"

    assert site_store.clock.compare().store == pytest.approx(now + seconds, abs=0.01)
