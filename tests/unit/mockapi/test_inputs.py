from pathlib import Path

import pytest

from mockapi.errors import InputFileError
from mockapi.inputs import load_catalog, load_rules, load_token

PAGE = (
    '{"wiki":"enwiki","domain":"en.wikipedia.org","page_id":2,"namespace_id":0,"title":"A",'
    '"revisions":[{"rev_id":8193,"parent_id":0,"timestamp":"2026-01-01T00:00:00Z"}]}'
)


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
