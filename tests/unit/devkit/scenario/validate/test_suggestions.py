"""A key that another section knows is said to belong there, unless that is said of too many."""

import pytest

from devkit.scenario.validate.suggestions import belongs


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (("deadline",), "it belongs under `until` or `pipeline.fetch` or `pipeline.deferral.slow_lane`"),
        (("traffic", "expect"), "it belongs at the top of the file"),
        (("restarts",), "it belongs under `until.any[]` or `expect.incident` or `expect.fixed`"),
        (("traffic", "of"), None),
        (("zzz",), None),
        (
            ("arms", "incident", "kafka"),
            "what the pipeline asks of Kafka is under `source` and `sink` here, brokers under `kafka` at the top",
        ),
        (("faults",), "did you mean `timeline` (faults on parts) or `mock.rules` (faults of the wiki)?"),
        (("until", "drained"), "write any: [{ drained: true }]"),
        (("until", "restarts"), "write any: [{ restarts: … }]"),
    ],
)
def test_where_it_belongs(location: tuple[str, ...], message: str | None) -> None:
    assert belongs(location) == message
