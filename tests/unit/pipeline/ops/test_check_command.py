from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipeline.__main__ import main
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


@pytest.mark.parametrize(
    ("options", "sections", "lines"),
    [
        pytest.param(
            [],
            {},
            [
                "pipeline.yaml: job html-enrichment, from mediawiki.page_change.v1 at 127.0.0.1:1 to "
                "mediawiki.page_html_content_change.v1 at 127.0.0.1:1",
                "the configuration is valid",
            ],
            id="the least",
        ),
        pytest.param(
            ["--memory-limit", "4GiB", "--slots", "4"],
            {"job": "content-enrichment"},
            [
                "pipeline.yaml: job content-enrichment, from mediawiki.page_change.v1 at 127.0.0.1:1 to "
                "mediawiki.page_content_change.v1 at 127.0.0.1:1",
                "the configuration is valid",
            ],
            id="another job, with a limit that is enough",
        ),
        pytest.param(
            ["--allow-unsafe"],
            {"source": {"topics": ["a", "b"]}, "record_limit": {"policy": "none"}},
            [
                "pipeline.yaml: job html-enrichment, from a, b at 127.0.0.1:1 to "
                "mediawiki.page_html_content_change.v1 at 127.0.0.1:1",
                "the configuration is valid, with --allow-unsafe: record_limit.policy: none",
            ],
            id="several topics, unsafe and accepted",
        ),
    ],
)
def test_a_valid_configuration_is_named_with_its_job(
    check: Check, options: list[str], sections: dict[str, Any], lines: list[str]
) -> None:
    result = check(*options, **sections)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == lines


@pytest.mark.parametrize(
    ("options", "environment", "sections", "messages"),
    [
        pytest.param(
            [],
            {},
            {"fetch": {"concurency": 5}, "batch": {"max_offsets": "many"}},
            ["fetch.concurency: unknown key; did you mean 'concurrency'?", "batch.max_offsets: must be a whole number"],
            id="the file",
        ),
        pytest.param(
            [],
            {},
            {"record_limit": {"policy": "none"}, "metrics": {"rename": {"enrichment_nothing": "x"}}},
            ["error: unsafe: record_limit.policy: none", "metrics.rename: there is no metric 'enrichment_nothing'"],
            id="unsafe, and a metric",
        ),
        pytest.param(
            [],
            {"PYSPARK_SUBMIT_ARGS": "--conf spark.speculation=true"},
            {},
            ["spark.speculation is true (--conf spark.speculation), and the job needs false", "hint: remove it"],
            id="Spark's settings of the environment",
        ),
        pytest.param(
            ["--memory-limit", "1GiB", "--slots", "8"],
            {},
            {},
            ["--memory-limit 1024MiB is too small for 8 slots: they take at least"],
            id="a limit that is too small",
        ),
        pytest.param(
            [],
            {},
            {"mediawiki": {"wikis_file": "pipeline.yaml"}},
            ["mediawiki.wikis_file: pipeline.yaml:1:", "hint: write a line `enwiki: en.wikipedia.org`"],
            id="a file of wikis that is none",
        ),
        pytest.param(
            [],
            {},
            {"kafka": {"security_protocol": "SSL", "ca": "pipeline.yaml"}},
            ["kafka.ca: pipeline.yaml cannot be used: it is no PEM"],
            id="a certificate that is none",
        ),
        pytest.param([], {}, {"job": "page-size"}, ["job: there is no job 'page-size'"], id="no such job"),
    ],
)
def test_every_reason_for_a_refusal_is_printed(
    check: Check, options: list[str], environment: dict[str, str], sections: dict[str, Any], messages: list[str]
) -> None:
    result = check(*options, environment=environment, **sections)
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
