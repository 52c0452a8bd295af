from random import Random

from benchmarks.memory.flat import slope


def test_a_line_is_found_without_what_was_before_it() -> None:
    at_s = [float(second) for second in range(0, 3600, 10)]
    values = [5000.0 if at < 600 else 100 + 5 * at / 3600 for at in at_s]
    found = slope(at_s, values, warm_up_s=600)
    assert found
    assert abs(found.slope - 5) < 1e-6
    assert found.half_width < 1e-6
    assert not found.is_flat


def test_noise_around_a_level_is_flat_and_a_leak_in_it_is_not() -> None:
    random = Random(1)
    at_s = [float(second) for second in range(0, 1800, 2)]
    noise = [500 + random.gauss(0, 20) for _ in at_s]
    level = slope(at_s, noise, warm_up_s=300)
    leak = slope(at_s, [value + 100 * at / 3600 for value, at in zip(noise, at_s, strict=True)], warm_up_s=300)
    assert level
    assert leak
    assert level.is_flat
    assert abs(level.slope) < 2 * level.half_width
    assert not leak.is_flat
    assert abs(leak.slope - 100) < 2 * leak.half_width


def test_samples_that_are_alike_do_not_count_as_many() -> None:
    """A slow wave has a slope wherever one looks; the interval has to know."""
    at_s = [float(second) for second in range(1800)]
    wave = [500 + 30 * ((at // 600) % 2) for at in at_s]
    found = slope(at_s, wave, warm_up_s=0)
    assert found
    assert found.is_flat


def test_too_few_samples_say_nothing() -> None:
    assert slope([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], warm_up_s=0) is None
    assert slope([0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7], warm_up_s=5) is None


def test_memory_that_falls_is_flat() -> None:
    at_s = [float(second) for second in range(600)]
    found = slope(at_s, [1000 - at for at in at_s], warm_up_s=60)
    assert found
    assert found.is_flat


def test_a_growth_of_less_than_a_hundredth_an_hour_does_not_matter() -> None:
    at_s = [float(second) for second in range(1800)]
    for mib_an_hour, flat in ((4, True), (6, False)):
        found = slope(at_s, [500 + mib_an_hour * at / 3600 for at in at_s], warm_up_s=0)
        assert found
        assert found.is_flat is flat
