from collections.abc import Callable, Sequence
from random import Random

import pytest

from benchmarks.memory.flat import Slope, slope
from benchmarks.memory.live_heap import live_bytes

HISTOGRAM = """\
 num     #instances         #bytes  class name (module)
-------------------------------------------------------
   1:        122361       46013112  [B (java.base@25.0.2)
   2:          7119        9160480  [Ljdk.internal.vm.FillerElement; (java.base@25.0.2)
   3:           118           2840  org.apache.spark.Thing
Total        129598       55176432
"""
OTHER = HISTOGRAM.replace("46013112", "46013113").replace("55176432", "55176433")


def sloped(at_s: Sequence[float], values: Sequence[float], *, warm_up_s: float = 0) -> Slope:
    found = slope([float(at) for at in at_s], values, warm_up_s=warm_up_s)
    assert found is not None
    return found


def test_a_line_is_found_without_what_was_before_it() -> None:
    at_s = range(0, 3600, 10)
    found = sloped(at_s, [5000.0 if at < 600 else 100 + 5 * at / 3600 for at in at_s], warm_up_s=600)
    assert abs(found.slope - 5) < 1e-6
    assert found.half_width < 1e-6
    assert not found.is_flat


@pytest.mark.parametrize(("mib_an_hour", "flat"), [(0, True), (100, False)])
def test_noise_around_a_level_is_flat_and_a_leak_in_it_is_not(mib_an_hour: int, flat: bool) -> None:
    at_s = range(0, 1800, 2)
    random = Random(1)
    found = sloped(at_s, [500 + random.gauss(0, 20) + mib_an_hour * at / 3600 for at in at_s], warm_up_s=300)
    assert found.is_flat is flat
    assert abs(found.slope - mib_an_hour) < 2 * found.half_width


@pytest.mark.parametrize(
    ("value_at", "flat"),
    [
        # A slow wave has a slope wherever one looks: samples that are alike do not count as many.
        pytest.param(lambda at: 500 + 30 * ((at // 600) % 2), True, id="a slow wave"),
        pytest.param(lambda at: 2000 - at, True, id="memory that falls"),
        pytest.param(lambda at: 500 + 4 * at / 3600, True, id="less than a hundredth an hour"),
        pytest.param(lambda at: 500 + 6 * at / 3600, False, id="more than a hundredth an hour"),
    ],
)
def test_what_is_flat(value_at: Callable[[int], float], flat: bool) -> None:
    assert sloped(range(1800), [value_at(at) for at in range(1800)]).is_flat is flat


def test_too_few_samples_say_nothing() -> None:
    assert slope([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], warm_up_s=0) is None
    assert slope([0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7], warm_up_s=5) is None


def test_what_is_live_is_all_but_what_fills_gaps() -> None:
    assert live_bytes(HISTOGRAM) == [46_013_112 + 2_840]


def test_each_histogram_among_other_output_counts_by_itself() -> None:
    printed = f'{{"event": "batch_written"}}\n{HISTOGRAM}\nFull thread dump\n{OTHER}'
    assert live_bytes(printed) == [46_015_952, 46_015_953]


def test_one_that_is_not_whole_yet_does_not_count() -> None:
    assert live_bytes(HISTOGRAM + OTHER.partition("Total")[0]) == [46_015_952]
    assert live_bytes("") == []
