from datetime import timedelta
from pathlib import Path

import pytest

from devkit.programs.stack_job import DEFAULT, RDF_UPDATER
from devkit.scenario.load import load_file
from devkit.soak.document import faults_of, soak_text
from mockapi.rules.book import plan_for
from pipeline.config.deferral_section import Deferral


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("job", "expected"),
    [(DEFAULT, {"drained", "audit"}), (RDF_UPDATER, {"drained", "audit", "store_matches"})],
)
def test_what_is_drawn_is_a_scenario_that_check_accepts(
    job: str, expected: set[str], seed: int, tmp_path: Path
) -> None:
    file = tmp_path / "soak.yaml"
    length = timedelta(minutes=2)
    file.write_text(soak_text(seed, length, job))
    scenario = load_file(file).scenario
    assert [item.name for item in scenario.timeline] == [one.name for one in faults_of(seed, length, job)]
    assert scenario.kafka.brokers == 3
    assert scenario.traffic.seed == seed
    assert {expectation.kind for expectation in scenario.expected_of("fixed")} == expected


def test_a_slow_page_outlasts_what_a_batch_waits_for(tmp_path: Path) -> None:
    """Otherwise nothing is deferred, and neither ledger nor slow lane has a part in any soak."""
    file = tmp_path / "soak.yaml"
    file.write_text(soak_text(6, timedelta(minutes=2), DEFAULT))
    scenario = load_file(file).scenario
    rules = [rule for rule in scenario.mock.rules if rule.when.page in (None, "Slow")]
    assert {"slow page", "a parser's times"} == {rule.name for rule in rules}
    for attempt in range(1, 20):
        latency = plan_for(rules, seed=6, key="a request", attempt=attempt).latency
        assert latency is not None
        assert latency > Deferral().inline_allowance
        # Events of one page are fetched one after the other: a soak of any length has to drain.
        assert 10 * scenario.traffic.pages["Slow"].share * latency.total_seconds() < 0.7
