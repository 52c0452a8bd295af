"""Configuration files; the refusals of files that are text are in tests/unit/golden/configuration_files.txt."""

from pathlib import Path

import pytest

from pipeline.config.apply_config import Apply, ApplyConfig
from pipeline.config.config_file import load_config, load_model
from pipeline.errors import RefusedError

LEAST = """\
source: {bootstrap_servers: "127.0.0.1:1", topic: mutations}
apply:
  endpoint: http://127.0.0.1:7878/update
"""
LEAST_JOB = """\
source: {bootstrap_servers: "127.0.0.1:1"}
sink: {bootstrap_servers: "127.0.0.1:1"}
mediawiki:
  endpoint: http://127.0.0.1:1
checkpoint: unused
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "apply.yaml"


def test_a_whole_file(file: Path) -> None:
    file.write_text(LEAST + "  timeout: 5s\n  probe_share: 10%\n  count: probe\n")
    config = load_model(file, ApplyConfig)
    assert (config.source.topic, config.source.group) == ("mutations", "enrichment-apply")
    assert (config.apply.timeout.total_seconds(), config.apply.probe_share) == (5, 0.1)
    assert (config.apply.batch_triples, config.apply.delete_weight, config.apply.atomic) == (1_000, 100, True)


@pytest.mark.parametrize(
    ("added", "line", "problem"),
    [
        ("  batch_triple: 5", 4, "apply.batch_triple: unknown key; did you mean 'batch_triples'?"),
        ("  bootstrap_servers: a:1", 4, "apply.bootstrap_servers: unknown key; it belongs to source.bootstrap_servers"),
        ("  batch_triples: 0", 4, "apply.batch_triples"),
        ("  timeout: 5", 4, "apply.timeout"),
        ("  graph: my graph", 4, "apply.graph"),
        ("  concept_base: //www.wikidata.org", 4, "apply.concept_base"),
        ("  query_endpoint: ftp://a/query", 4, "apply.query_endpoint"),
        ("  offset: nowhere", 4, "apply.offset"),
        ("  username: me", 4, "apply.username needs a password: write apply.password_file"),
        ("  username: me:x\n  password: p", 4, "apply.username: HTTP Basic takes no user with a colon"),
        ("  password_file: p", 4, "apply.password_file needs apply.username"),
        ("  username: me\n  password: p\n  password_file: p", 5, "are both given: write one of them"),
        (
            "  query_endpoint: http://you@a/query\n  username: me\n  password: p",
            4,
            "apply.query_endpoint has a user, and apply.username is another login",
        ),
        ("  query_endpoint: http://a%3Ab:p@c/query", 4, "HTTP Basic takes no user with a colon"),
        ("kafka: {username: me}", 4, "kafka.username is not used with kafka.security_protocol PLAINTEXT"),
        ("checkpoint: x", 4, "checkpoint: unknown key"),
    ],
)
def test_a_problem_has_its_place(file: Path, added: str, line: int, problem: str) -> None:
    file.write_text(LEAST + added)
    with pytest.raises(RefusedError) as caught:
        load_model(file, ApplyConfig)
    assert str(caught.value).startswith(f"{file}:{line}:")
    assert problem in str(caught.value)


@pytest.mark.parametrize("section", ["source", "apply"])
def test_what_is_required(file: Path, section: str) -> None:
    file.write_text(LEAST.replace(f"{section}:", "metrics: {}\nx:") if section == "source" else LEAST.split("apply")[0])
    with pytest.raises(RefusedError, match=f"{section}: is missing"):
        load_model(file, ApplyConfig)


@pytest.mark.parametrize(
    ("settings", "endpoint"),
    [
        ({"endpoint": "http://store:7878/update"}, "http://store:7878/query"),
        ({"endpoint": "http://store:3030/ds/update?x=1"}, "http://store:3030/ds/query?x=1"),
        ({"endpoint": "http://store/sparql"}, "http://store/sparql"),
        ({"endpoint": "http://store"}, "http://store"),
        ({"endpoint": "http://store/update", "query_endpoint": "http://other/sparql"}, "http://other/sparql"),
    ],
)
def test_where_queries_go(settings: dict[str, str], endpoint: str) -> None:
    apply = Apply.model_validate(settings)
    assert apply.effective_query_endpoint == endpoint
    assert apply.model_dump()["query_endpoint"] == endpoint


def test_a_concept_base_has_no_slash_at_its_end() -> None:
    assert Apply.model_validate({"endpoint": "http://a", "concept_base": "http://wiki/"}).concept_base == "http://wiki"


def test_a_whole_file_of_a_job(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(LEAST_JOB + "fetch: {deadline: 30s}\n")
    config = load_config(file)
    assert config.source.bootstrap_servers == "127.0.0.1:1"
    assert config.fetch.deadline.total_seconds() == 30


@pytest.mark.parametrize(("content", "problem"), [(b"a: \xff\xfe\n", "not UTF-8 text: "), (b"a: \x00\n", "not YAML: ")])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_bytes(content)
    with pytest.raises(RefusedError, match=f"^{file}:.*{problem}"):
        load_config(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"missing\.yaml: cannot be read: No such file"):
        load_config(tmp_path / "missing.yaml")
    with pytest.raises(RefusedError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
