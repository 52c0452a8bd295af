"""The examples of docs/extend.md played on real parts: each process that needs an extension has it.

Set-up: the files as they stand on the page, the embedded stack; a job, a fault of the mock and an expectation with the
pipeline on Spark, a fault on a part and a kind of program with a command. Checked: the verdict, and what the extension
itself has to show.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.extend_page import write_examples

ROOMS = ("docs", "devkit", "devkit/expectations", "located_config", "pipeline/jobs")
Run = Callable[..., "subprocess.CompletedProcess[str]"]
IN_DRIVER = """
import sys
from pathlib import Path

from pyspark import cloudpickle

from pipeline.worker import spark_task as task
from pipeline.config.pipeline_config import MediaWiki, PipelineConfig, Sink, Source
from pipeline.jobs.extensions import load_extensions

load_extensions(["./page_size.py"])
config = PipelineConfig.model_validate({
    "job": "page-size",
    "source": {"bootstrap_servers": "127.0.0.1:1"},
    "sink": {"bootstrap_servers": "127.0.0.1:1"},
    "mediawiki": {"endpoint": "http://127.0.0.1:1"},
    "checkpoint": "nowhere",
    "deferral": {"policy": "none"},
})
Path(sys.argv[1]).write_bytes(cloudpickle.dumps(task.enrich(config, workers=1)))
"""
IN_WORKER = """
import pickle, sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

message = {"topic": ["t"], "partition": [0], "offset": [0], "key": [b"k"], "value": [b"{"]}
batch = pa.RecordBatch.from_pydict(message | {"timestamp": pa.array([datetime.now(UTC)], pa.timestamp("us", tz="UTC"))})
for records in pickle.loads(Path(sys.argv[1]).read_bytes())(iter([batch])):
    print(records.column("topic").to_pylist(), records.column("value")[0].as_py().decode())
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_examples(tmp_path)
    return tmp_path


@pytest.fixture
def run(directory: Path) -> Run:
    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """A Python process in the directory of the examples."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | environment,
        )

    return run


def play(directory: Path, name: str, *options: str, exit_code: int = 0) -> Any:
    """The result of the scenario, which has to reproduce its incident and to show the fix."""
    ended = subprocess.run(
        [sys.executable, "-m", "devkit.cli.main", "scenario", "run", f"{name}.yaml", "--plain", "--json", *options],
        cwd=directory,
        # The command of an example is the Python of the tests.
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert ended.returncode == exit_code, ended.stderr
    return json.loads(ended.stdout)


def found(result: Any, arm: str, name: str) -> Any:
    (finding,) = (one for one in result["arms"][arm]["expectations"] if one["name"] == name)
    return finding


@pytest.mark.slow
def test_a_fault_of_the_mock_and_an_expectation(directory: Path) -> None:
    result = play(directory, "error_share")
    assert "error events" in found(result, "incident", "error_share")["measured"]


@pytest.mark.slow
def test_a_job(directory: Path) -> None:
    result = play(directory, "page_size")
    assert result["arms"]["fixed"]["audit"]["outputs"] > 0


@pytest.mark.slow
def test_a_job_of_two_topics_is_audited_by_its_truth(directory: Path) -> None:
    fixed = play(directory, "link_count")["arms"]["fixed"]
    assert found({"arms": {"fixed": fixed}}, "fixed", "audit")["measured"].startswith("clean: 91 in = ")
    (run,) = (directory / "runs" / "link-count").glob("2*")
    entries = [json.loads(line) for line in (run / "fixed" / "manifest.jsonl").read_text().splitlines()]
    topics = Counter(entry["topic"] for entry in entries)
    assert topics == {"mediawiki.page_change.v1": 60, "acme.recount.v1": 31}


@pytest.mark.slow
def test_a_job_that_drops_events_of_one_topic_is_not_clean(directory: Path) -> None:
    file = directory / "link_count.py"
    keeps, drops = "return event.wanted\n", "return event.wanted and event.revision % 7 != 1  # a bug\n"
    assert keeps in file.read_text()
    file.write_text(file.read_text().replace(keeps, drops))
    result = play(directory, "link_count", "--arm", "fixed", exit_code=1)
    audit, finding = result["arms"]["fixed"]["audit"], found(result, "fixed", "audit")
    assert audit["lost"] > 0
    assert (finding["holds"], finding["measured"]) == (False, f"lost {audit['lost']}")
    assert all("committed, and never emitted; expected an output" in one for one in audit["examples"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connections", "script"])
def test_a_fault_on_a_part_and_a_kind_of_program(directory: Path, name: str) -> None:
    result = play(directory, name, "--arm", "fixed")
    assert result["pipeline"].endswith("my_pipeline.py")


def test_devkit_lists_a_fault_of_the_mock(run: Run) -> None:
    """The mock, which devkit asks, is a process of its own."""
    ended = run("-m", "devkit.cli.main", "faults", "maintenance", "--extend", "./maintenance.py")
    assert "the maintenance page" in ended.stdout, ended.stderr
    assert run("-m", "devkit.cli.main", "faults", "status").stdout.startswith("status")


def test_a_python_worker_finds_the_job_by_the_environment_alone(run: Run, directory: Path) -> None:
    """What Spark hands it is a pickled function with the configuration; here a message that is no event."""
    made = run("-c", IN_DRIVER, "function.pickle")
    assert made.returncode == 0, made.stderr
    ended = run("-c", IN_WORKER, "function.pickle", ENRICHMENT_EXTEND=f"{directory}/page_size.py")
    assert ended.stdout.startswith("['acme.page_size.error'] {"), ended.stderr
    assert "there is no job 'page-size'" in run("-c", IN_WORKER, "function.pickle").stderr
