import json
from pathlib import Path

import pytest

from mockapi import faults_command
from mockapi.__main__ import main
from mockapi.errors import InputFileError
from mockapi.faults.registry import FAULTS
from mockapi.inputs import load_catalog, load_rules, load_token

REMEDY = "write an address and the length of its prefix, such as 172.16.0.0/12"
PAGE = (
    '{"wiki":"enwiki","domain":"en.wikipedia.org","page_id":2,"namespace_id":0,"title":"A",'
    '"revisions":[{"rev_id":8193,"parent_id":0,"timestamp":"2026-01-01T00:00:00Z"}]}'
)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--port", "abc", "abc is not a port: 0 to 65535"),
        ("--port", "-1", "-1 is not a port: 0 to 65535"),
        ("--port", "65536", "65536 is not a port: 0 to 65535"),
        ("--allow-control", "here", f"'here' is not a network: {REMEDY}"),
        ("--allow-control", "10.0.0.1/8", "'10.0.0.1/8' is not a network: did you mean 10.0.0.0/8?"),
        ("--base-url", "127.0.0.1:8090", "'127.0.0.1:8090' is not a base URL: write scheme, host and port alone"),
        ("--base-url", "ftp://127.0.0.1", "is not a base URL"),
        ("--base-url", "http://127.0.0.1/w/", "is not a base URL"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_what_does(
    option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([option, value])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_all_are_listed_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main([]) == 0
    text = capsys.readouterr().out
    for name, fault in FAULTS.items():
        assert f"\n  {name}  {fault.summary.split()[0]}" in text
        assert f"{{name: {name}, do: {{{name}: " in text
    assert all(len(line) <= 100 or line.lstrip().startswith("{") for line in text.splitlines())


def test_one_is_shown_with_what_its_parameters_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "capacity"]) == 0
    text = capsys.readouterr().out
    assert "  parses    whole number from 1 (required)\n" in text
    assert "(*) depends on time, order or load" in text


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main(["--json"]) == 0
    assert {fault["name"] for fault in json.loads(capsys.readouterr().out)} == set(FAULTS)
    assert faults_command.main(["status", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["name"], one["example"]) == ("status", 504)


def test_a_name_that_is_no_faults_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults_command.main(["statsu"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mockapi: no fault 'statsu'; did you mean 'status'?")


def test_a_catalog_is_a_page_a_line(tmp_path: Path) -> None:
    file = tmp_path / "catalog.jsonl"
    other = PAGE.replace('"page_id":2', '"page_id":3').replace("8193", "12289")
    file.write_text(f"{PAGE}\n\n{other}\n")
    assert [page.page_id for page in load_catalog(file)] == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{PAGE}\n{PAGE.replace('title', 'titel')}", "catalog.jsonl:2: titel: unknown key; did you mean 'title'?"),
        (f"{PAGE}\n{PAGE}", "catalog.jsonl: page 2 of enwiki is there twice"),
        ("{", "catalog.jsonl:1: invalid JSON"),
    ],
)
def test_a_catalog_error_names_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "catalog.jsonl"
    file.write_text(text)
    with pytest.raises(InputFileError) as raised:
        load_catalog(file)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_rules_are_a_yaml_list(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("- {name: slow, when: {page: Huge}, do: {latency: 40ms}}\n- {name: gone, do: {status: 404}}\n")
    assert [rule.name for rule in load_rules(file)] == ["slow", "gone"]
    file.write_text("# none yet\n")
    assert load_rules(file) == ()


def test_a_rule_file_that_is_not_yaml_names_the_place(tmp_path: Path) -> None:
    """What is wrong with rules that can be read is in tests/unit/golden/mock_rules.txt."""
    file = tmp_path / "rules.yaml"
    file.write_text("- {name: a, do: {latency: [}")
    with pytest.raises(InputFileError, match=r"rules\.yaml:1:28: not YAML.*\Z"):
        load_rules(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"none\.yaml: cannot be read: No such file"):
        load_rules(tmp_path / "none.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"- \xe9")
    with pytest.raises(InputFileError, match="not UTF-8 text: unexpected end of data at byte 2"):
        load_rules(latin)


def test_a_token_comes_from_a_file_or_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from-a-file\n")
    assert load_token(file, "given", "VARIABLE") == "from-a-file"
    assert load_token(None, "given", "VARIABLE") == "given"
    assert load_token(None, "", "VARIABLE") is None


@pytest.mark.parametrize("text", ["", "\n", "two words", "sécret", "a\nb"])
def test_a_file_without_a_token_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match=r"token: not a token: printable ASCII") as raised:
        load_token(file, "given", "VARIABLE")
    assert text.strip() == "" or text not in str(raised.value)
    with pytest.raises(InputFileError, match=r"^VARIABLE: not a token"):
        load_token(None, "a b", "VARIABLE")
