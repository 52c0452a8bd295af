from typing import Any

import pytest

from devkit.expectations import Expectation
from devkit.observe.arm_observation import Evidence, TimelineEvidence
from tests.unit.devkit.observed import an_observation, some_figures


def met(requests: int, rule: str = "slow page") -> Evidence:
    return Evidence(
        fault=rule,
        fired=requests > 0,
        requests=requests,
        completed=requests,
        max_content_length_bytes=None,
        max_wire_bytes=0,
        max_real_bytes=0,
        max_duration_s=0.1,
        by_status={},
    )


@pytest.mark.parametrize(
    ("bounds", "evidence", "of_all", "measured", "holds"),
    [
        ({"at_least": 3}, (met(3),), 9, "3 of 9 requests", True),
        ({"at_least": 3}, (met(2), met(5, "another")), 9, "2 of 9 requests", False),
        ({"at_most": 3}, (met(3),), 9, "3 of 9 requests", True),
        ({"at_most": 3}, (met(4),), 9, "4 of 9 requests", False),
        ({"at_most": 0}, (met(0),), 9, "0 of 9 requests", True),
        ({"at_most": 3}, (met(0),), 0, "no request came", False),
        ({"at_most": 3}, (), 9, "the arm had no rule 'slow page'", False),
        (
            {"at_most": 3},
            (TimelineEvidence(fault="slow page", fired=True, asked="pause: {part: kafka}", acted=True, did="paused"),),
            9,
            "the arm had no rule 'slow page'",
            False,
        ),
    ],
)
def test_it_counts_the_requests_of_one_rule(
    bounds: dict[str, int], evidence: tuple[Any, ...], of_all: int, measured: str, holds: bool
) -> None:
    expectation = Expectation.model_validate({"requests": {"rule": "slow page", **bounds}})
    observation = an_observation(evidence=evidence, figures=some_figures(requests=of_all))
    finding = expectation.judge(observation)
    assert (finding.measured, finding.holds) == (measured, holds)
