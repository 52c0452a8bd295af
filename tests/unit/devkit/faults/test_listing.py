from devkit.faults.listing import in_full, in_short
from devkit.faults.network.latency import NetworkLatency
from devkit.faults.parts.pause import Pause
from devkit.faults.registry import FAULTS
from devkit.faults.store.error import StoreAnswersError


def test_in_short_a_fault_says_what_it_takes() -> None:
    assert in_short(NetworkLatency) == (
        "  network_latency  what goes to or from a part takes `time` longer, and up to `jitter` more, in order\n"
        "    takes  part, direction?, time, jitter?\n"
        "    {network_latency: {part: kafka, time: 200ms, jitter: 50ms}}"
    )


def test_in_full_each_parameter_says_what_it_may_be() -> None:
    lines = in_full(NetworkLatency).splitlines()
    assert '  direction  "to_server" or "to_client" or "both" (default: both)' in lines
    assert "  time       duration (required)" in lines
    assert "  jitter     duration (default: 0s)" in lines
    assert "  status   403 or 500 or 503 (default: 503)" in in_full(StoreAnswersError).splitlines()


def test_the_parts_are_named() -> None:
    text = " ".join(in_full(Pause).split())
    assert (
        "kafka (of three brokers kafka-1 or kafka-2 or kafka-3), object-store or mock-api, or triple-store (required)"
        in text
    )


def test_no_parameter_of_any_fault_is_left_as_anything() -> None:
    assert [name for name, fault in FAULTS.items() if "anything" in in_full(fault)] == []
