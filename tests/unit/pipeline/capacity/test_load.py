import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.capacity.load import Executors, Load


def test_an_event_fetches_all_its_pages() -> None:
    assert Load(1, requests=2, page_bytes=50).event_bytes == 100


def test_a_slow_request_holds_its_slot_until_it_is_put_aside() -> None:
    load = Load(1, requests=2, slow_share=0.1, slow_latency_s=40)
    assert load.slot_s(5) == pytest.approx(1 + 0.1 * 4 / 2), "one of its two, 4 s longer"
    assert load.slot_s(100) == pytest.approx(1 + 0.1 * 39 / 2), "nothing is deferred"
    assert load.slot_s(0.5) == 1


@given(st.floats(0.001, 60), st.floats(0, 1), st.floats(0, 100), st.floats(0.001, 100))
def test_a_slot_is_never_held_for_less_than_a_usual_request(
    latency_s: float, share: float, slow_s: float, allowance_s: float
) -> None:
    assert Load(latency_s, slow_share=share, slow_latency_s=slow_s).slot_s(allowance_s) >= latency_s


def test_a_place_has_what_all_its_executors_have() -> None:
    place = Executors(executors=3, cores=2, slots=5, partitions=8)
    assert (place.all_cores, place.all_slots) == (6, 15)
