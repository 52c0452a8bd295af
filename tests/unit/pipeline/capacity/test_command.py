from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from ruamel.yaml import YAML

from pipeline.__main__ import main
from pipeline.capacity.costs import Costs
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.pipeline.capacity.asking import configured

FILE = """
source: {bootstrap_servers: "127.0.0.1:1"}
sink: {bootstrap_servers: "127.0.0.1:1"}
mediawiki: {endpoint: "http://127.0.0.1:1"}
checkpoint: unused
"""


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(FILE)
    return path


def test_a_rate_is_answered_with_what_it_needs_and_why() -> None:
    result = asked("--rate", "40/s", "--latency", "10s", "--requests", "1", "--cost", "worker_requests=100")
    assert result.exit_code == 0, result.output
    lines = {line.split("  ")[1]: line for line in result.stdout.splitlines() if line.startswith("  ")}
    assert "400  40/s x 1 x 10 s (Little's law)" in lines["requests in flight"]
    assert "6  6 by requests, 100 in each" in lines["Python workers"]
    assert "bottleneck: executors by slots, slots by workers, workers by requests in flight" in result.stdout


def test_the_settings_it_tells_are_a_part_of_a_configuration() -> None:
    result = asked("--rate", "400/s", "--latency", "10s", "--slow-share", "1%", "--slow-latency", "40s")
    _, _, written = result.stdout.partition("to write into the configuration:\n")
    settings = YAML(typ="safe").load(written)
    config = configured(**settings)
    assert config.fetch.concurrency == settings["fetch"]["concurrency"] > 8000
    assert config.deferral.slow_lane.rounds > 1
    assert config.deferral.inline_allowance.total_seconds() == 20


def test_a_configuration_is_answered_with_what_it_reaches(config_file: Path) -> None:
    result = asked("--config", str(config_file), "--latency", "1s", "--partitions", "4", "--slots-per-executor", "5")
    assert result.exit_code == 0, result.output
    assert "1 executor of 4 cores and 5 slots, 4 partitions" in result.stdout
    assert "64/s  128 in flight (4 workers x 32, fetch.concurrency 128) / 2 requests x 1 s" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("bottleneck: requests in flight")


def test_the_second_job_has_one_request_for_an_event(config_file: Path) -> None:
    config_file.write_text(FILE + "job: content-enrichment\n")
    assert "1 x 50 KiB" in asked("--config", str(config_file), "--latency", "1s").stdout


def test_parents_that_are_not_requested_leave_their_share_of_the_requests() -> None:
    output = asked("--rate", "400", "--latency", "1s", "--parent-hits", "70%").stdout
    assert "520  400/s x 1.3 x 1 s (Little's law)" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "5", "--requests", "1", "--parent-hits", "70%"], "--parent-hits of a job that keeps no parents"),
        ([], "plan needs --rate or --config"),
        (["--rate", "400/s", "--partitions", "3"], "--partitions with --rate"),
        (["--memory-limit", "4GiB"], "--memory-limit without --rate"),
        (["--quota-cpu", "40"], "--quota-cpu without --rate"),
        (["--rate", "5", "--sidecar-cpu", "200m", "--quota-memory", "9GiB"], "--sidecar-cpu without --quota-cpu"),
        (["--rate", "5", "--driver-memory", "2GiB", "--quota-cpu", "9"], "--driver-memory without --quota-memory"),
        (["--rate", "5", "--quota-memory", "9GiB", "--driver-memory", "1GiB"], "the driver needs 1280MiB"),
        (["--rate", "5", "--quota-cpu", "many"], "not a number of CPUs (got 'many'); write 2, 0.5 or 500m"),
        (["--rate", "5/x"], "unknown unit 'x' (got '5/x'); write 5/s"),
        (["--rate", "5", "--slow-share", "110%"], "more than the whole (got '110%'); write 5% or 0.05"),
        (["--rate", "5", "--slow-share", "some"], "not a share (got 'some')"),
        *((["--rate", "5", "--headroom", number], "'--headroom'") for number in ("nan", "inf", "1e308", "wide")),
        (["--rate", "5", "--headroom", "1"], "headroom 1 is not above 1"),
        (["--rate", "5", "--slow-share", "1%"], "--slow-share without a longer --slow-latency"),
        (["--rate", "5", "--page-size", "5 KB"], "unknown unit 'KB'"),
        (["--rate", "5", "--cost", "batch=3"], "--cost 'batch=3': no such cost"),
        (["--rate", "5", "--cost", "batch_s=fast"], "--cost 'batch_s=fast': 'fast' is no number"),
        (["--rate", "5", "--cost", "worker_requests=0"], "has to be at least 1"),
    ],
)
def test_what_cannot_be_answered_says_why(arguments: list[str], message: str) -> None:
    result = asked("--latency", "1s", *arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("options", "code", "lines"),
    [
        pytest.param(
            ["--quota-cpu", "90", "--quota-memory", "100GiB", "--sidecar-cpu", "200m", "--sidecar-memory", "500MiB"],
            0,
            [
                "CPU          7 x (4 + sidecar 0.2) + driver 1 + sidecar 0.2 = 30.6 of 90",
                "memory, MiB  7 x (2,551 + sidecar 500) + driver 1,280 + sidecar 500 = 23,137 of 102,400",
                "fits: 7 executors needed, 21 fit; bottleneck: CPU",
            ],
            id="the default driver",
        ),
        pytest.param(
            ["--quota-cpu", "28", "--driver-cpu", "0.5"],
            2,
            ["CPU  7 x 4 + driver 0.5 = 28.5 of 28", "does not fit: 7 executors needed, 6 fit; bottleneck: CPU"],
            id="a quota that is too small",
        ),
        pytest.param(
            ["--quota-memory", "32GiB", "--memory-limit", "4GiB", "--driver-memory", "2GiB"],
            0,
            ["memory, MiB  7 x 4,096 + driver 2,048 = 30,720 of 32,768", "7 fit; bottleneck: memory"],
            id="given memory",
        ),
    ],
)
def test_a_quota_is_answered_with_the_executors_that_fit(options: list[str], code: int, lines: list[str]) -> None:
    result = asked("--rate", "400/s", "--latency", "10s", *options)
    assert (result.exit_code, result.stderr) == (code, "")
    assert [line for line in lines if line not in result.stdout] == []
    assert "to write into the configuration:" in result.stdout


def test_the_costs_are_shown_with_where_they_were_measured() -> None:
    result = asked("--costs")
    assert result.exit_code == 0
    assert f"batch_s={Costs().batch_s:g}" in result.stdout
    assert "benchmarks/results/" in result.stdout


def test_what_is_left_out_of_a_file_stays_left_out(config_file: Path) -> None:
    """A setting that follows from another one would else stand against it."""
    assert asked("--config", str(config_file), "--rate", "5/s", "--latency", "60s").exit_code == 0
    assert "stop_timeout" not in PipelineConfig.model_validate(YAML(typ="safe").load(FILE)).model_fields_set
