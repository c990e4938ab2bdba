from voting_site.embedded.supervisor import Backoff


def test_the_delay_doubles_up_to_five_seconds_while_the_server_does_not_come_up():
    backoff = Backoff()

    waits = [backoff.after(served=False) for _ in range(8)]

    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_runs_that_served_never_make_the_delay_grow():
    backoff = Backoff()

    assert [backoff.after(served=True) for _ in range(8)] == [0.1] * 8


def test_a_run_that_served_resets_the_delay():
    backoff = Backoff()
    for _ in range(5):
        backoff.after(served=False)

    assert [backoff.after(served=True), backoff.after(served=False)] == [0.1, 0.2]
