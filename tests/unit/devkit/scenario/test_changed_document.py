from collections.abc import Callable
from pathlib import Path

import pytest

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
