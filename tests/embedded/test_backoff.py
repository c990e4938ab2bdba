from voting_site.embedded.supervisor import Backoff


def test_the_delay_doubles_up_to_five_seconds_until_a_run_has_served():
    backoff = Backoff()

    assert [backoff.after(served=False) for _ in range(8)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert [backoff.after(served=served) for served in (True, True, False)] == [0.1, 0.1, 0.2]
