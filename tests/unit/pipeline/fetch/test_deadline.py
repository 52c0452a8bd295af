from pipeline.fetch.deadline import Deadline


def test_the_clock_starts_with_the_first_request_and_only_once() -> None:
    now = 100.0
    deadline = Deadline(5, lambda: now)
    now = 200.0
    assert (deadline.has_begun, deadline.remaining_s()) == (False, 5)
    deadline.begin()
    now = 203.0
    deadline.begin()
    assert (deadline.has_begun, deadline.remaining_s()) == (True, 2)
    now = 206.0
    assert deadline.remaining_s() == -1
