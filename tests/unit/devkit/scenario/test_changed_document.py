from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.scenario.load import LoadedFile, load_file
from tests.unit.devkit.conftest import TEXT, Edited

Load = Callable[..., LoadedFile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The valid file with what `--set` is given."""

    def load(*written: str, text: str = TEXT) -> LoadedFile:
        path = tmp_path / "a.yaml"
        path.write_text(text)
        return load_file(path, written)

    return load


def changed_values(file: LoadedFile) -> list[str]:
    return [str(change.changed_value) for change in file.changes]


class TestWhatIsSet:
    def test_of_one_arm_and_of_both(self, load: Load) -> None:
        file = load("arms.fixed.batch.max_offsets=10", "pipeline.batch.max_offsets=30")
        assert file.scenario.overlay("fixed")["batch"] == {"max_offsets": 10}
        assert file.scenario.pipeline["batch"]["max_offsets"] == 30
        assert changed_values(file) == [
            "arms.fixed.batch.max_offsets: not set → 10",
            "pipeline.batch.max_offsets: 50 → 30",
        ]

    def test_the_last_one_wins(self, load: Load) -> None:
        assert load("traffic.seed=8", "traffic.seed=9").scenario.traffic.seed == 9

    def test_a_value_is_yaml_with_the_units_of_files(self, load: Load) -> None:
        file = load("traffic.rate=40/s", "until.any=[{drained: true}, {restarts: 3}]")
        assert file.scenario.traffic.event_count == 2 * load().scenario.traffic.event_count - 1
        assert [one.restarts for one in file.scenario.until.any] == [None, 3]

    @pytest.mark.parametrize("item", ["0", "huge page"])
    def test_an_item_by_its_number_or_name(self, load: Load, item: str) -> None:
        file = load(f"mock.rules[{item}].when.page=Huge", f"mock.rules[{item}].do={{status: 503}}")
        assert file.scenario.mock.rules[0].do.status is not None
        assert file.changes[1].location == ("mock", "rules", 0, "do")

    def test_a_key_with_dots_of_its_own(self, load: Load) -> None:
        file = load("arms.fixed.sink.max.request.size=30MiB", "kafka.topics.output.max.message.bytes=40MiB")
        assert file.scenario.overlay("fixed") == file.scenario.overlay("fixed") | {
            "sink": {"max.request.size": "30MiB"}
        }
        assert file.scenario.kafka.topics.output.max_message_bytes == 40 << 20

    def test_a_new_entry_as_a_whole(self, load: Load) -> None:
        file = load("traffic.pages.Moon={edits: 2}", "traffic.pages.Moon.edits=3")
        assert file.scenario.traffic.pages["Moon"].edits == 3

    def test_the_entry_of_a_name_with_dots(self, load: Load, edited: Edited) -> None:
        file = load("traffic.pages.St. John.edits=3", text=edited(("pages:\n", "pages:\n    St. John: { edits: 2 }\n")))
        assert changed_values(file) == ["traffic.pages.St. John.edits: 2 → 3"]

    def test_the_document_of_the_file_stays(self, load: Load) -> None:
        assert load("traffic.seed=9").as_written["traffic"]["seed"] == 7

    def test_what_the_file_has_at_two_places_by_an_alias_is_set_at_one(self, load: Load, edited: Edited) -> None:
        text = edited(
            ("content_limit: { measure: content_length }", "content_limit: &limit { measure: content_length }"),
            ("  fixed:\n", "  fixed:\n    content_limit: *limit\n"),
        )
        file = load("arms.fixed.content_limit.measure=decoded", text=text)
        assert [file.scenario.overlay(arm)["content_limit"]["measure"] for arm in ("incident", "fixed")] == [
            "content_length",
            "decoded",
        ]


class TestAPlaceThatIsNone:
    @pytest.mark.parametrize(
        ("written", "message", "hint"),
        [
            ("arms.fixd.batch.max_offsets=1", "arms has no 'fixd'", "did you mean 'fixed'?"),
            ("traffic.pages.Hugh.edits=1", "traffic.pages has no 'Hugh'", "did you mean 'Huge'?"),
            ("mock.rules[huge pag].do=1", "mock.rules has no item [huge pag]", "did you mean 'huge page'?"),
            ("mock.rules[3].do=1", "mock.rules has no item [3]", "there are: 0, huge page"),
            ("traffic.seed.x=1", "traffic.seed is no mapping in the file, so nothing can be set in it", None),
            ("traffic[0]=1", "traffic is no list in the file", None),
        ],
    )
    def test_on_the_way(self, load: Load, written: str, message: str, hint: str | None) -> None:
        with pytest.raises(UsageError) as raised:
            load(written)
        assert (str(raised.value), raised.value.hint) == (f"--set {written}: {message}", hint)

    @pytest.mark.parametrize("written", ["traffic.seed", "=1", ".traffic=1", "traffic..seed=1", "traffic.=1", "a[=1"])
    def test_text_that_names_none(self, load: Load, written: str) -> None:
        with pytest.raises(UsageError, match=r"^--set .*: ") as raised:
            load(written)
        assert raised.value.hint == "write it like --set arms.fixed.batch.max_offsets=100"

    def test_a_value_that_is_no_yaml(self, load: Load) -> None:
        with pytest.raises(UsageError, match=r"^--set traffic.seed=\[1: the value is not YAML"):
            load("traffic.seed=[1")

    @pytest.mark.parametrize(
        ("written", "message"),
        [
            (
                "arms.fixed.batch.max_ofsets=1",
                "--set: arms.fixed.batch.max_ofsets: unknown key; did you mean 'max_offsets'?",
            ),
            ("arms.fixed.batc.max_offsets=1", "--set: arms.fixed.batc: unknown key; did you mean 'batch'?"),
            ("trafic.rate=1/s", "--set: trafic: unknown key; did you mean 'traffic'?"),
            (
                "arms.fixed.sink.max.request.sze=1",
                "--set: arms.fixed.sink.max.request.sze: unknown key; did you mean 'max.request.size'?",
            ),
        ],
    )
    def test_its_end(self, load: Load, written: str, message: str) -> None:
        with pytest.raises(InvalidFileError) as raised:
            load(written)
        assert str(raised.value) == message


def test_what_a_change_breaks_elsewhere_has_its_line_of_the_file(load: Load) -> None:
    with pytest.raises(InvalidFileError, match=r"a\.yaml:\d+:\d+: mock.* there is no page 'Huge'"):
        load("traffic.pages={}")


def test_a_warning_says_so_as_well(load: Load) -> None:
    (warning,) = load("pipeline.sink.topic=mine").warnings()
    assert warning.startswith("--set: warning: pipeline.sink.topic: the kit makes this topic afresh")
