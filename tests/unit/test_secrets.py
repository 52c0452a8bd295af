"""A secret in a configuration, or in what a client says, is nowhere where a process writes something down."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.errors import InvalidFileError, PartError, Problem, UsageError
from devkit.observe.settings import ChangedValue
from devkit.observe.timeline.kit_events import HarnessError
from devkit.observe.timeline.timeline import Timeline
from devkit.report.progress import Progress
from devkit.report.redaction import redact_files, redact_model
from devkit.report.result import Result
from pipeline import log
from pipeline.config.config_file import load_config
from pipeline.deferral.wire import to_record
from pipeline.driver.spark_conf import effective_spark
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import Configuration, Failed
from pipeline.records.error_event import Failure, error_record
from pipeline.records.record import Position
from tests.unit.devkit.report.conftest import a_good_result
from tests.unit.pipeline.deferral.making import entry

SECRET = "hunter2-and-more"
TEXTS = [
    f"cannot connect with sasl.jaas.config=org.X.PlainLoginModule required username='u' password='{SECRET}';",
    f"java -Djavax.net.ssl.keyStorePassword={SECRET} -Xmx1g ended",
    f"GET https://user:{SECRET}@wiki.example.org/w/rest.php: 500",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_jobs_log_and_its_errors(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.emit(Failed(error=text, refused=True, stalled=False))
    log.write_stderr(PipelineError(text, hint=text).render())
    said = capsys.readouterr()
    assert said.out
    assert said.err
    assert SECRET not in said.out + said.err
    assert SECRET not in PipelineError(text, hint=text).render()


def test_the_configuration_that_the_job_logs(capsys: pytest.CaptureFixture[str]) -> None:
    effective = {"kafka": {"properties": {"ssl.key.password": SECRET}, "jaas": [SECRET]}, "x": f"a://b:{SECRET}@c"}
    log.emit(Configuration(unsafe=(), effective=effective))
    assert SECRET not in capsys.readouterr().out
    java = f"-Xmx1g -Djavax.net.ssl.trustStorePassword={SECRET}"
    shown = effective_spark([("spark.driver.extraJavaOptions", java), ("spark.x.secret.key", SECRET)])
    assert SECRET not in str(shown)
    assert "-Xmx1g" in str(shown)


@pytest.mark.parametrize("text", TEXTS)
def test_what_leaves_in_records(text: str) -> None:
    failure, when = Failure("upstream_error", text), datetime(2026, 1, 1, tzinfo=UTC)
    error = error_record("t", failure, position=Position("s", 0, 1), key=None, appended=when, emitter="e", stream="s")
    assert SECRET.encode() not in error.value
    deferred = to_record(entry(1, reason=text), topic="d", epoch=1)
    assert SECRET.encode() not in b"".join(value for _, value in deferred.headers)


def test_a_configuration_that_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(
        f"source: {{bootstrap_servers: a}}\nkafka_password: {SECRET}\nclaim_check: {{secret_key: [{SECRET}]}}\n"
    )
    with pytest.raises(RefusedError) as caught:
        load_config(file)
    assert "kafka_password" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", TEXTS)
def test_the_kits_errors_its_timeline_and_its_terminal(text: str, tmp_path: Path) -> None:
    for error in (
        UsageError(text, hint=text),
        PartError(text, "kafka"),
        InvalidFileError(tmp_path, [Problem(1, 1, text)]),
    ):
        assert SECRET not in error.render()
        assert SECRET not in error.with_hint
    with Timeline(tmp_path / "events.jsonl") as timeline:
        timeline.add(HarnessError(error=text, exit_code=3))
    assert SECRET not in (tmp_path / "events.jsonl").read_text()
    stream = io.StringIO()
    Progress(stream).line("incident", text)
    assert stream.getvalue()
    assert SECRET not in stream.getvalue()


@pytest.mark.parametrize("text", TEXTS)
def test_what_reports_are_made_of(text: str) -> None:
    found = broken_off_run(text)
    shown = redact_model(found)
    assert SECRET in found.model_dump_json()
    assert SECRET not in shown.model_dump_json()
    assert redact_model(shown) == shown


def broken_off_run(text: str) -> Result:
    """That ended with an error which says so, and whose arms differ in a secret."""
    return a_good_result().model_copy(
        update={
            "reasons": (text,),
            "broke_off": text,
            "repeat": f"devkit scenario run x --set arms.a.kafka.password={SECRET}",
            "config_difference": {"kafka.properties.ssl.key.password": {"incident": SECRET, "fixed": None}},
        }
    )


@given(st.sampled_from(["arms.fixed.kafka.properties.ssl.key.password", "programs.x.environment.API_TOKEN"]))
def test_a_value_that_the_command_line_set(place: str) -> None:
    changed = ChangedValue(place=place, before=SECRET, value={"a": [SECRET]})
    assert SECRET not in str(changed) + json.dumps(changed.model_dump())


def test_the_files_that_processes_leave(tmp_path: Path) -> None:
    """Byte by byte as they were, but for the secrets."""
    log, config, other = tmp_path / "logs" / "own-1.out", tmp_path / "pipeline.yaml", tmp_path / "other.bin"
    log.parent.mkdir()
    log.write_bytes(f"\xff begun\r\nrefused sasl password {SECRET}\nlast".encode("latin-1"))
    config.write_text(f"sasl:\n  password: {SECRET} # of the bot\n")
    config.chmod(0o600)
    other.write_text(SECRET)
    plain = tmp_path / "logs" / "plain.log"
    plain.write_text("token bucket\n")
    before = plain.stat().st_ino
    redact_files(tmp_path)
    assert log.read_bytes() == b"\xff begun\r\nrefused sasl password (redacted)\nlast"
    assert config.read_text() == "sasl:\n  password: (redacted) # of the bot\n"
    assert config.stat().st_mode & 0o777 == 0o600
    assert (other.read_text(), plain.stat().st_ino) == (SECRET, before)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "other.bin",
        "own-1.out",
        "pipeline.yaml",
        "plain.log",
    ]
