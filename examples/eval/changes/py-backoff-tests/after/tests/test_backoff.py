from jobs.backoff import MAX_SECONDS, pause_before
from tests.support import raised_by


def test_the_first_pause_is_two_seconds():
    assert pause_before(1) == 2


def test_each_pause_is_twice_the_one_before():
    for attempt in range(1, 7):
        assert pause_before(attempt + 1) == 2 * pause_before(attempt)


def test_no_pause_is_longer_than_the_maximum():
    assert MAX_SECONDS == 300
    for attempt in (9, 10, 50, 10_000):
        assert pause_before(attempt) == MAX_SECONDS


def test_attempts_below_one_are_refused():
    for attempt in (0, -1, -50):
        raised_by(lambda: pause_before(attempt))
