import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
from pipeline.errors import PipelineError, RefusedError
from pipeline.ops.exit_codes import exit_codes
from tests.unit.pipeline.least_config import write_config

Check = Callable[..., Result]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """`check` of the least configuration with these sections, in an environment that says nothing of Spark."""
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "SPARK_DRIVER_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run_check(*options: str, environment: dict[str, str] | None = None, **sections: Any) -> Result:
        write_config(tmp_path, **sections)
        return CliRunner().invoke(main, ["check", "pipeline.yaml", *options], env=environment)

    return run_check


HTML, CONTENT = "mediawiki.page_html_content_change.v1", "mediawiki.page_content_change.v1"


@pytest.mark.parametrize(
    ("options", "sections", "job", "source", "sink", "more"),
    [
        pytest.param([], {}, "html-enrichment", "mediawiki.page_change.v1", HTML, "", id="the least"),
        pytest.param(
            ["--memory-limit", "4GiB", "--slots", "4"],
            {"job": "content-enrichment"},
            *("content-enrichment", "mediawiki.page_change.v1", CONTENT, ""),
            id="another job, with a limit that is enough",
        ),
        pytest.param(
            ["--allow-unsafe"],
            {"source": {"topics": ["a", "b"]}, "record_limit": {"policy": "none"}},
            *("html-enrichment", "a, b", HTML, ", with --allow-unsafe: record_limit.policy: none"),
            id="several topics, unsafe and accepted",
        ),
    ],
)
def test_a_valid_configuration_is_named_with_its_job(
    check: Check, options: list[str], sections: dict[str, Any], job: str, source: str, sink: str, more: str
) -> None:
    result = check(*options, **sections)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"pipeline.yaml: job {job}, from {source} at 127.0.0.1:1 to {sink} at 127.0.0.1:1",
        f"the configuration is valid{more}",
    ]


NO_METRIC = "metrics.rename: there is no metric 'enrichment_nothing'"
NO_SPECULATION = "spark.speculation is true (--conf spark.speculation), and the job needs false"
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "the file": (
        {"fetch": {"concurency": 5}, "batch": {"max_offsets": "many"}},
        ["fetch.concurency: unknown key; did you mean 'concurrency'?", "batch.max_offsets: must be a whole number"],
    ),
    "unsafe, and a metric": (
        {"record_limit": {"policy": "none"}, "metrics": {"rename": {"enrichment_nothing": "x"}}},
        ["error: unsafe: record_limit.policy: none", NO_METRIC],
    ),
    "Spark's settings of the environment": (
        {"environment": {"PYSPARK_SUBMIT_ARGS": "--conf spark.speculation=true"}},
        [NO_SPECULATION, "hint: remove it"],
    ),
    "a limit that is too small": (
        {"options": ["--memory-limit", "1GiB", "--slots", "8"]},
        ["--memory-limit 1024MiB is too small for 8 slots: they take at least"],
    ),
    "a file of wikis that is none": (
        {"mediawiki": {"wikis_file": "pipeline.yaml"}},
        ["mediawiki.wikis_file: pipeline.yaml:1:", "hint: write a line `enwiki: en.wikipedia.org`"],
    ),
    "a certificate that is none": (
        {"kafka": {"security_protocol": "SSL", "ca": "pipeline.yaml"}},
        ["kafka.ca: pipeline.yaml cannot be used: it is no PEM"],
    ),
    "no such job": ({"job": "page-size"}, ["job: there is no job 'page-size'"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_reason_for_a_refusal_is_printed(check: Check, name: str) -> None:
    given, messages = REFUSED[name]
    sections = {key: value for key, value in given.items() if key != "options"}
    result = check(*given.get("options", []), **sections)
    assert (result.exit_code, result.stdout) == (2, "")
    assert [message for message in messages if message not in result.stderr] == []


@pytest.mark.parametrize(
    ("sections", "warning"),
    [
        ({"mediawiki": {"endpoint": "http://mw-api-int:4680"}}, "set mediawiki.contact to a mail address"),
        (
            {"sink": {"bootstrap_servers": "kafka-1:9092,Kafka-1:9092"}},
            "sink.bootstrap_servers has kafka-1:9092 more than once: remove it, or write the broker that was meant",
        ),
        (
            {"mediawiki": {"wikis_file": "wikis.yaml"}},
            "mediawiki.wikis_file: wikis.yaml does not exist on this machine, so its content is not checked",
        ),
        (
            {"kafka": {"security_protocol": "SSL", "ca": "ca.pem"}},
            "kafka.ca: ca.pem does not exist on this machine, so its content is not checked",
        ),
    ],
    ids=["no contact", "a broker twice", "no file of wikis", "no certificate"],
)
def test_a_doubt_is_a_warning(check: Check, sections: dict[str, Any], warning: str) -> None:
    result = check(**sections)
    assert result.exit_code == 0
    assert result.stderr.startswith(f"warning: {warning}")


@pytest.mark.parametrize(("error", "code"), [(PipelineError("gone"), 1), (RefusedError("gone"), 2)])
def test_a_failure_has_its_exit_code(error: PipelineError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exit_codes():
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (code, "error: gone\n")


def test_a_full_disk_below_what_is_printed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exit_codes():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("error: standard output could not be written: No space left on device\n")


@pytest.mark.parametrize(
    "other", [BrokenPipeError(errno.EPIPE, "broken pipe"), OSError(errno.ENOSPC, "full", "some/file")]
)
def test_what_else_the_system_says_passes(other: OSError) -> None:
    with pytest.raises(OSError, match=r"broken pipe|full"), exit_codes():
        raise other
