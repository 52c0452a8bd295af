import pytest

from devkit.faults.condition import Seen, parse_condition
from devkit.faults.shortfall import Extent, describe_shortfall

SEEN = (
    Seen({"lag": 40, "committed": 10, "outputs": 4}),
    Seen({"lag": 90, "committed": 60, "outputs": 8}, batches=frozenset({0, 2})),
    Seen({"lag": 20, "committed": 80}, batches=frozenset({0, 2})),
)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("committed: 90%", "committed came to 80 of 90"),
        ("lag > 95", "lag came to 90 of more than 95"),
        ("outputs >= 9", "outputs came to 8 of 9"),
        ("lag < 5", "lag was never less than 20"),
        ("deferred > 5", "deferred was not to be seen"),
        ("batch 3 committed", "the last batch committed was 2"),
        ("program running", "no query ever ran"),
        ("program joiner running", "the query of joiner never ran"),
        ("event: stalled", "no program logged it"),
        ("met: slow page", "no request met it"),
        ({"request": {"methods": ["PUT"]}}, "no such request came to the object-store by the proxy"),
    ],
)
def test_how_far_an_arm_with_100_events_came(written: object, message: str) -> None:
    extent = Extent()
    for seen in SEEN:
        extent = extent.grown(seen)
    assert describe_shortfall(parse_condition(written), extent, 100) == message


def test_an_arm_that_committed_nothing() -> None:
    extent = Extent().grown(Seen({"committed": 0}))
    assert describe_shortfall(parse_condition("committed: 300"), extent, 300) == "committed came to 0 of 300"
    assert describe_shortfall(parse_condition("batch 1 committed"), extent, 300) == "no batch was committed"
