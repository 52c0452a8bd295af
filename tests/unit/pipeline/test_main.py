import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline import __main__ as command
from pipeline.__main__ import main
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.driver import query as module
from pipeline.driver.stop import StoppedHardError
from pipeline.errors import PipelineError, RefusedError
from pipeline.memory.budget import Budget
from tests.unit.pipeline.least_config import write_config
from tests.unit.signal_handlers import restored_handlers

Start = Callable[..., Result]


@dataclass
class Stream:
    """Takes the place of the streaming query."""

    started: list[tuple[PipelineConfig, NewStart | None]] = field(default_factory=list)
    failure: Exception | None = None
    signal: int | None = None
    allow_unsafe: bool | None = None
    ledger: str | None = None

    def run(self, budget: Budget, new: NewStart | None, *, allow_unsafe: bool, ledger: str | None) -> None:
        self.ledger = ledger
        self.allow_unsafe = allow_unsafe
        self.started.append((budget.config, new))
        if self.signal:
            os.kill(os.getpid(), self.signal)
        if self.failure:
            raise self.failure


@pytest.fixture
def query(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    """The handlers of this process's signals come back at the end. What would end it at once is an exit like others."""
    fake = Stream()
    monkeypatch.setattr("os._exit", sys.exit)
    monkeypatch.setattr(module, "run", fake.run)
    with restored_handlers():
        yield fake


@pytest.fixture
def start(tmp_path: Path, query: Stream) -> Start:
    def go(*arguments: str, **sections: Any) -> Result:
        file = write_config(tmp_path, **{"sink": {"max.request.size": 20_971_520}, **sections})
        return CliRunner().invoke(main, ["run", "html-enrichment", "--config", str(file), *arguments])

    return go


def logged(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_safe_configuration_starts_and_is_printed(start: Start, query: Stream) -> None:
    result = start()
    assert (result.exit_code, result.stderr) == (0, "")
    ((config, new),) = query.started
    assert (new, query.allow_unsafe) == (None, False)
    (configuration,) = logged(result)
    assert configuration["event"] == "configuration"
    assert configuration["unsafe"] == []
    assert configuration["effective"]["sink"]["max.request.size"] == 20_971_520
    assert PipelineConfig.model_validate(configuration["effective"]).model_dump() == config.model_dump()


def test_a_first_start_says_where(start: Start, query: Stream) -> None:
    assert start("--new", "earliest").exit_code == 0
    ((_, new),) = query.started
    assert new == NewStart("earliest", {"startingOffsets": "earliest"})


def test_under_spark_submit_signals_of_the_jvm_are_passed_on_before_the_job_says_anything(
    start: Start, query: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = list[str]()
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(command, "pass_signals_on", lambda: passed.append("signals"))
    monkeypatch.setattr(command, "submitted_settings", dict)
    monkeypatch.setattr(command.log, "emit", lambda event: passed.append(event.event))
    assert start().exit_code == 0
    assert passed[:2] == ["signals", "configuration"]
    assert query.started


@pytest.mark.parametrize(
    ("option", "wish"), [([], None), (["--adopt-ledger"], "adopt"), (["--discard-ledger"], "discard")]
)
def test_an_operator_decides_on_another_ledger(
    start: Start, query: Stream, option: list[str], wish: str | None
) -> None:
    assert start(*option).exit_code == 0
    assert query.ledger == wish


@pytest.mark.parametrize(
    ("arguments", "sections", "message"),
    [
        (
            [],
            {"record_limit": {"policy": "none"}, "content_limit": {"measure": "content_length"}},
            "error: unsafe: content_limit.measure: content_length, record_limit.policy: none\nhint: ",
        ),
        (["--new", ""], {}, "error: --new : no such start position\nhint: write earliest, latest or"),
        (["--new", "somewhere"], {}, "error: --new somewhere: no such start position\nhint: write earliest, latest or"),
        ([], {"fetch": {"concurency": 5}}, "did you mean 'concurrency'?"),
        ([], {"job": "content-enrichment"}, "is for job 'content-enrichment', not 'html-enrichment'"),
    ],
    ids=["unsafe", "empty start", "no such start", "bad file", "another job"],
)
def test_what_is_refused_does_not_begin(
    start: Start, query: Stream, arguments: list[str], sections: dict[str, Any], message: str
) -> None:
    result = start(*arguments, **sections)
    assert result.exit_code == 2
    assert message in result.stderr
    (line,) = logged(result)
    assert (line["event"], line["refused"]) == ("failed", True)
    assert not query.started


def test_unsafe_policies_are_accepted_by_name(start: Start, query: Stream) -> None:
    result = start("--allow-unsafe", record_limit={"policy": "none"})
    assert result.exit_code == 0
    assert logged(result)[0]["unsafe"] == ["record_limit.policy: none"]
    assert query.allow_unsafe is True
    assert len(query.started) == 1


@pytest.mark.parametrize(
    ("failure", "exit_code"),
    [
        (PipelineError("query failed: it broke"), 1),
        (StoppedHardError("stopped with batch 7 at work, as stop_timeout 25 s is over"), 3),
    ],
)
def test_how_a_failed_query_ends(start: Start, query: Stream, failure: PipelineError, exit_code: int) -> None:
    query.failure = failure
    result = start()
    assert (result.exit_code, result.stderr) == (exit_code, f"error: {failure}\n")
    assert (logged(result)[-1]["error"], logged(result)[-1]["refused"]) == (str(failure), False)


@pytest.mark.parametrize(
    ("failure", "at_once"),
    [(PipelineError("query failed"), [1]), (StoppedHardError("stopped"), [3]), (RefusedError("no such topic"), [])],
)
def test_no_work_that_is_under_way_holds_a_process_that_failed(
    start: Start, query: Stream, monkeypatch: pytest.MonkeyPatch, failure: PipelineError, at_once: list[int]
) -> None:
    """A slow round may have records on their way to a broker that is gone, which the producer never gives up."""
    ended: list[int] = []
    monkeypatch.setattr("os._exit", ended.append)
    query.failure = failure
    assert start().exit_code == failure.exit_code
    assert ended == at_once


@pytest.mark.parametrize(
    "arguments",
    [[], ["run"], ["run", "html-enrichment"], ["run", "other-job", "--config", "x"], ["run", "html-enrichment", "-x"]],
    ids=["nothing", "no job", "no file", "no such job", "no such option"],
)
def test_a_wrong_command_is_exit_2(arguments: list[str], query: Stream) -> None:
    assert CliRunner().invoke(main, arguments).exit_code == 2
    assert not query.started


def test_memory_comes_from_one_number(start: Start, query: Stream) -> None:
    result = start("--memory-limit", "4GiB", "--slots", "4")
    assert result.exit_code == 0
    ((config, _),) = query.started
    configuration, memory = logged(result)
    assert memory["event"] == "memory"
    assert sum(memory["parts"].values()) <= memory["limit"]["bytes"] == 4 * 1024**3
    assert memory["settings"]["fetch.max_in_flight_bytes"] == config.fetch.max_in_flight_bytes
    assert configuration["effective"]["claim_check"]["max_bytes"] == config.claim_check.max_bytes, "the effective value"


def test_spark_must_not_be_told_what_the_job_cannot_work_with(
    start: Start, query: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.speculation true\nspark.driver.memory 3g\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    result = start()
    assert result.exit_code == 2
    assert f"spark.speculation is true ({tmp_path}/spark-defaults.conf:1), and the job needs false" in result.stderr
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.memory 3g\n")
    result = start("--memory-limit", "4GiB", "--slots", "4")
    assert result.exit_code == 2
    assert "spark.driver.memory is 3g" in result.stderr
    assert not query.started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_it_starts_ends_it_in_order(start: Start, query: Stream, number: signal.Signals) -> None:
    query.signal = number
    query.failure = PipelineError("it went on")
    result = start()
    assert (result.exit_code, result.stderr) == (0, "")
    assert logged(result)[-1]["event"] == "stopped"
    assert signal.getsignal(number) == signal.SIG_DFL, "a second one has nothing to wait for"


def test_spark_takes_no_setting_of_the_job(
    start: Start, query: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("fetch.concurrency 5\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    result = start()
    assert result.exit_code == 2
    assert f"fetch.concurrency ({tmp_path}/spark-defaults.conf:1): it is the job's" in result.stderr
    assert not query.started


@pytest.mark.parametrize("path", [[], ["run"], ["lag"], ["checkpoint", "show"], ["replay"]], ids=" ".join)
def test_help_has_a_short_form_too(path: list[str]) -> None:
    shown = CliRunner().invoke(main, [*path, "-h"])
    assert (shown.exit_code, shown.stdout.startswith("Usage:")) == (0, True)
