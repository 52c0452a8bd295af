import shutil
from pathlib import Path

import pytest

from devkit.errors import UsageError
from devkit.scenario import new
from devkit.scenario.load import load_file, load_scenario
from devkit.scenario.new import SCHEMA, modeline, write_new
from devkit.scenario.resolve import resolve

TOP = Path(__file__).parents[4]
SHIPPED = sorted((TOP / "scenarios").glob("*.yaml"))


def test_the_commented_file_is_valid_and_nothing_in_it_is_doubtful(tmp_path: Path) -> None:
    file = write_new("morning-outage", tmp_path)
    loaded = load_file(file)
    scenario = loaded.scenario
    assert (file.name, scenario.name) == ("morning-outage.yaml", "morning-outage")
    assert loaded.warnings() == []
    assert set(resolve(scenario).difference) == {"deferral.policy", "fetch.total_requests"}


def test_each_section_of_it_has_a_comment_before_it(tmp_path: Path) -> None:
    lines = write_new("mine", tmp_path).read_text().splitlines()
    for section in ("traffic:", "mock:", "pipeline:", "until:", "arms:", "expect:"):
        assert lines[lines.index(section) - 1].startswith("# "), section


@pytest.mark.parametrize("source", SHIPPED, ids=lambda path: path.stem)
def test_a_copy_differs_from_its_scenario_in_nothing_but_the_name(source: Path, tmp_path: Path) -> None:
    copy, original = load_scenario(write_new("mine", tmp_path, source)), load_scenario(source)
    assert copy.in_directory_of(original) == original.model_copy(update={"name": "mine"})


def test_a_copy_keeps_the_comments_and_has_one_line_for_editors(tmp_path: Path) -> None:
    source = TOP / "scenarios" / "oversized-message.yaml"
    text = write_new("mine", tmp_path, source).read_text()
    assert text.count("$schema=") == 1
    assert text.splitlines()[2:] == source.read_text().splitlines()[2:]


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("work of weeks\n")
    with pytest.raises(UsageError, match=r"mine\.yaml is there already"):
        write_new("mine", tmp_path)
    assert (tmp_path / "mine.yaml").read_text() == "work of weeks\n"


@pytest.mark.parametrize("name", ["My Own", "../mine", "latest", ""])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no name for a scenario"):
        write_new(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_copy_that_would_not_be_valid_there_is_not_left(tmp_path: Path) -> None:
    """What the file loads stands beside it, and nothing of that name beside the copy."""
    source = tmp_path / "here" / "a.yaml"
    source.parent.mkdir()
    source.write_text(f"{new.TEMPLATE.read_text()}extend: [./mine.py]\n")
    (source.parent / "mine.py").write_text("")
    with pytest.raises(UsageError, match="would not be valid") as raised:
        write_new("b", tmp_path / "there", source)
    assert raised.value.hint is not None
    assert str(source.parent) in raised.value.hint
    assert list((tmp_path / "there").iterdir()) == []


class TestTheLineForEditors:
    @pytest.mark.parametrize("file", SHIPPED, ids=lambda path: path.stem)
    def test_each_shipped_file_begins_with_it(self, file: Path) -> None:
        assert file.read_text().splitlines(keepends=True)[0] == modeline(file.parent)

    def test_outside_of_the_checkout_it_is_a_whole_path(self, tmp_path: Path) -> None:
        assert modeline(tmp_path) == f"# yaml-language-server: $schema={SCHEMA}\n"

    def test_of_an_installed_kit_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its package may be moved by no one, and a path from a project into it would be a guess."""
        package = tmp_path / "site-packages" / "devkit" / "scenario"
        package.mkdir(parents=True)
        schema = shutil.copy(SCHEMA, package)
        monkeypatch.setattr(new, "_HERE", package)
        monkeypatch.setattr(new, "SCHEMA", Path(schema))
        assert modeline(tmp_path / "site-packages" / "mine") == f"# yaml-language-server: $schema={schema}\n"
