import re
from pathlib import Path

import pytest

from pipeline.config.config_file import load_config
from pipeline.errors import RefusedError

LEAST = """\
source: {bootstrap_servers: "127.0.0.1:1"}
sink: {bootstrap_servers: "127.0.0.1:1"}
mediawiki:
  endpoint: http://127.0.0.1:1
checkpoint: unused
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pipeline.yaml"


def refusal(file: Path, text: str | bytes) -> str:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(RefusedError) as caught:
        load_config(file)
    return str(caught.value)


def test_a_whole_file(file: Path) -> None:
    file.write_text(LEAST + "fetch: {deadline: 30s}\n")
    config = load_config(file)
    assert config.source.bootstrap_servers == "127.0.0.1:1"
    assert config.fetch.deadline.total_seconds() == 30


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("source-offset", "source-offset is a header that the pipeline itself writes"),
        ("claim-check-key", "claim-check-key is a header that the pipeline itself writes"),
        ("a, a", "a stands there twice"),
    ],
)
def test_headers_that_cannot_be_passed_on(file: Path, names: str, problem: str) -> None:
    text = LEAST.replace('"127.0.0.1:1"}', f'"127.0.0.1:1", pass_headers: [{names}]}}', 1)
    assert f"{file}:1:" in refusal(file, text)
    assert problem in refusal(file, text)


@pytest.mark.parametrize(
    ("added", "line", "problem"),
    [
        ("fetchs: {}", 6, "fetchs: unknown key; did you mean 'fetch'?"),
        ("fetch:\n  concurency: 5", 7, "fetch.concurency: unknown key; did you mean 'concurrency'?"),
        ("fetch: {concurrency: 5,\n  dead_line: 5s}", 7, "fetch.dead_line: unknown key; did you mean 'deadline'?"),
        ("record_limit:\n  zzz: 5", 7, "record_limit.zzz: unknown key; there are: policy"),
        ("fetch: {max_offsets: 5}", 6, "fetch.max_offsets: unknown key; it belongs to batch.max_offsets"),
        ("fetch: {max_offset: 5}", 6, "fetch.max_offset: unknown key; it belongs to batch.max_offsets"),
        ("inline_allowance: 5s", 6, "inline_allowance: unknown key; it belongs to deferral.inline_allowance"),
        (
            "batch: {deadline: 5s}",
            6,
            "batch.deadline: unknown key; it belongs to fetch.deadline or deferral.slow_lane.deadline",
        ),
        (
            "spark.executor.memory: 1g",
            6,
            "spark.executor.memory: unknown key; it is Spark's, and belongs into spark-defaults.conf",
        ),
        (
            "fetch:\n  deadline: 10",
            7,
            "fetch.deadline: not a duration (got 10); write 10ms or 10s (us, ms, s, m, h, d)",
        ),
        ("content_limit:\n  max_bytes: 18\n  measure: header", 8, "content_limit.measure: "),
        ("fetch:\n  retried_statuses:\n    - 503\n    - many", 9, "fetch.retried_statuses[1]: "),
        ("claim_check:\n  bucket: {}", 7, "claim_check.bucket: "),
        ("fetch: 5", 6, "fetch: "),
        (
            "claim_check: {endpoint: 'http://127.0.0.1:99999'}",
            6,
            "claim_check.endpoint: Port out of range",
        ),
    ],
)
def test_an_error_names_file_line_and_near_miss(file: Path, added: str, line: int, problem: str) -> None:
    message = refusal(file, LEAST + added + "\n")
    assert re.match(rf"{re.escape(str(file))}:{line}:\d+: {re.escape(problem)}", message)


def test_the_producers_own_name_is_offered_for_a_near_miss(file: Path) -> None:
    message = refusal(file, LEAST.replace("sink: {", "sink: {max.request.sise: 5, "))
    assert message == f"{file}:2:8: sink.max.request.sise: unknown key; did you mean 'max.request.size'?"


def test_every_problem_has_a_line_of_its_own(file: Path) -> None:
    lines = refusal(file, LEAST + "fetch: {deadline: 5}\nbatch:\n  max_offsets: 0\n").split("\n")
    assert [line.removeprefix(f"{file}:").split(":")[0] for line in lines] == ["6", "8"]


def test_a_missing_section_is_named(file: Path) -> None:
    assert f"{file}:1:1: sink: is missing" in refusal(file, LEAST.replace("sink:", "sinks:"))
    assert f"{file}:3:1: mediawiki.endpoint: is missing" in refusal(file, LEAST.replace("  endpoint", "  endpunkt"))


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n- b\n", "just text\n", "5\n"])
def test_a_file_that_is_no_mapping(file: Path, text: str) -> None:
    assert refusal(file, text).startswith(f"{file}:1:1: (top): ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("source: [1\nsink: 5\n", ":2:"),
        ("a: b: c\n", ":1:5:"),
        ("a: 1\na: 2\n", ":2:1:"),
        ("a: *unknown\n", ":1:4:"),
        ("a: 1\n---\nb: 2\n", ":"),
        ("\ta: 1\n", ":1:1:"),
        (b"a: \xff\xfe\n", ":"),
        (b"a: \x00\n", ":"),
    ],
    ids=["open bracket", "two colons", "key twice", "no anchor", "two documents", "tab", "not UTF-8", "NUL"],
)
def test_what_is_not_yaml_is_refused_with_its_place(file: Path, text: str | bytes, place: str) -> None:
    message = refusal(file, text)
    assert message.startswith(f"{file}{place}")
    assert "not YAML: " in message or "not UTF-8 text: " in message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"missing\.yaml: cannot be read: No such file"):
        load_config(tmp_path / "missing.yaml")
    with pytest.raises(RefusedError, match="cannot be read: Is a directory"):
        load_config(tmp_path)


def test_a_long_value_is_not_repeated_in_full(file: Path) -> None:
    assert len(refusal(file, LEAST + f"content_limit: {{measure: {'x' * 100_000}}}\n")) < 1000


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'source: {bootstrap_servers: "127.0.0.1:1"}',
            'source: {bootstrap_servers: ""}',
            "1:10: source.bootstrap_servers",
        ),
        ('sink: {bootstrap_servers: "127.0.0.1:1"}', "sink: {bootstrap_servers: a:abc}", "2:8: sink.bootstrap_servers"),
        ("http://127.0.0.1:1", "http://127.0.0.1:99999", "4:3: mediawiki.endpoint"),
        ("checkpoint: unused", 'checkpoint: ""', "5:1: checkpoint"),
    ],
)
def test_an_address_that_nobody_can_use_is_refused(file: Path, old: str, new: str, message: str) -> None:
    assert refusal(file, LEAST.replace(old, new)).startswith(f"{file}:{message}: ")


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("fetch:\n  retry_budget: {shar: 0.5}", "7:18: fetch.retry_budget.shar: unknown key; did you mean 'share'?"),
        (
            "fetch:\n  retry_budget: {share: 7}",
            "7:18: fetch.retry_budget.share: more than the whole (got 7); write 5% or 0.05, up to 100%",
        ),
        (
            "fetch: {max_in_flight_bytes: 1T}",
            "6:9: fetch.max_in_flight_bytes: unknown unit 'T' (got '1T'); write 1MiB (B, KiB, MiB, GiB, kB, MB, GB)",
        ),
        (
            "content:\n  models:\n    - a\n    - 5",
            "9:7: content.models[1]: must be text (got 5); write it in quotes",
        ),
        (
            "metrics: {lag_interval: 0s}",
            "6:11: metrics.lag_interval: must be above 0 (got '0s'); write for example 10s (us, ms, s, m, h, d)",
        ),
    ],
)
def test_what_may_be_of_two_kinds_has_one_error(file: Path, added: str, message: str) -> None:
    assert refusal(file, LEAST + added + "\n") == f"{file}:{message}"


@pytest.mark.parametrize(
    ("added", "place"),
    [
        ("batch: {}\nstall_timeout: 3s", "7:1: stall_timeout: deferral.inline_allowance 5 s"),
        (
            "stall_timeout: 3s\ndeferral:\n  inline_allowance: 4s",
            "8:3: deferral.inline_allowance: deferral.inline_allowance 4 s",
        ),
        ("breaker:\n  open_for_cap: 1s", "7:3: breaker.open_for_cap: breaker.open_for_cap 1 s"),
    ],
)
def test_a_check_of_several_keys_has_the_line_of_one_and_repeats_no_document(
    file: Path, added: str, place: str
) -> None:
    message = refusal(file, LEAST + added + "\n")
    assert message.startswith(f"{file}:{place}")
    assert "(got" not in message
