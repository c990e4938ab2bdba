from voting_site.embedded.backoff import Backoff


def test_the_delay_doubles_up_to_five_seconds():
    backoff = Backoff()

    waits = [backoff.after(0.0) for _ in range(8)]

    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_the_delay_is_reset_after_thirty_seconds_of_uptime():
    backoff = Backoff()
    for _ in range(5):
        backoff.after(29.9)

    assert [backoff.after(30.0), backoff.after(0.0)] == [0.1, 0.2]
