from mockapi.clock import RequestClock


def test_it_stands_still_until_the_first_request() -> None:
    readings = iter([50.0, 53.5, 54.0])
    clock = RequestClock(lambda: next(readings))
    assert clock.elapsed() is None
    assert clock.arrive() == 0.0
    assert clock.arrive() == 3.5
    assert clock.elapsed() == 4.0
