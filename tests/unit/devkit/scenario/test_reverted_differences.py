from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import LoadedFile, load_file
from devkit.scenario.reverted_differences import RevertedDifference, reverted_differences
from tests.unit.devkit.conftest import TEXT

ARMS = TEXT[TEXT.index("arms:\n") : TEXT.index("expect:\n")]
Load = Callable[..., LoadedFile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The valid file with other arms."""

    def load(arms: str, *changes: tuple[str, str]) -> LoadedFile:
        text = TEXT.replace(ARMS, f"arms:\n{arms}\n")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / "a.yaml"
        path.write_text(text)
        return load_file(path, unchecked=True)

    return load


def found(file: LoadedFile, incident: str = "incident") -> dict[str, RevertedDifference]:
    return {one.difference: one for one in reverted_differences(file, "fixed", incident)}


def overlay_without(file: LoadedFile, difference: str) -> object:
    loaded = found(file)[difference].load(file)
    return None if loaded is None else loaded.scenario.overlay("fixed")


def test_each_single_value_is_a_difference_by_itself(load: Load) -> None:
    file = load(
        "  incident: { content_limit: { measure: content_length }, record_limit: { policy: none } }\n"
        "  fixed: { record_limit: { policy: serialized }, batch: { max_offsets: 10 } }"
    )
    assert {key: (one.incident, one.fixed) for key, one in found(file).items()} == {
        "record_limit.policy": ("none", "serialized"),
        "batch.max_offsets": (None, 10),
        "content_limit.measure": ("content_length", None),
    }
    assert overlay_without(file, "record_limit.policy") == {
        "record_limit": {"policy": "none"},
        "batch": {"max_offsets": 10},
    }
    assert overlay_without(file, "batch.max_offsets") == {"record_limit": {"policy": "serialized"}, "batch": {}}
    assert overlay_without(file, "content_limit.measure") == {
        "record_limit": {"policy": "serialized"},
        "batch": {"max_offsets": 10},
        "content_limit": {"measure": "content_length"},
    }
    assert file.scenario.overlay("fixed")["batch"] == {"max_offsets": 10}


def test_an_arm_with_nothing_of_its_own_gets_what_the_incident_has(load: Load) -> None:
    file = load("  incident: { record_limit: { policy: none } }\n  fixed:")
    assert overlay_without(file, "record_limit.policy") == {"record_limit": {"policy": "none"}}


def test_surroundings_of_an_arm_are_differences_and_its_role_is_none(load: Load) -> None:
    file = load(
        "  burst: { role: incident, supervisor: { attempts: 2 }, container: { memory: 1GiB } }\n"
        "  fixed: { supervisor: { delay: 1s }, kafka: { topics: { output: { max.message.bytes: 40MiB } } } }",
        ("  incident:\n    - restarts", "  burst:\n    - restarts"),
    )
    differences = found(file, "burst")
    assert list(differences) == [
        "supervisor.delay",
        "supervisor.attempts",
        "kafka.topics.output.max.message.bytes",
        "container.memory",
    ]
    assert differences["supervisor.attempts"].place == "arms.fixed.supervisor.attempts"


def test_a_default_that_is_written_is_no_difference_when_it_is_left_out(load: Load) -> None:
    file = load(
        "  incident: { record_limit: { policy: none } }\n"
        "  fixed: { content_limit: { measure: decoded }, record_limit: { policy: serialized } }"
    )
    assert found(file)["content_limit.measure"].load(file) is None
    assert found(file)["record_limit.policy"].load(file) is not None


def test_a_fault_that_only_the_incident_meets_is_put_into_the_fixed_arm(load: Load) -> None:
    item = "timeline: [{ name: broker still, do: { pause: { part: kafka } }, at: 2s, for: 1s, arms: [incident] }]\n"
    file = load("  incident: {}\n  fixed: {}", ("until:\n", f"{item}until:\n"))
    (one,) = reverted_differences(file, "fixed", "incident")
    assert one.difference == "timeline.broker still"
    without = one.load(file)
    assert without is not None
    assert [item.name for item in without.scenario.timeline_of("fixed")] == ["broker still"]


def test_what_both_arms_have_by_an_alias_is_turned_back_in_one(load: Load) -> None:
    file = load(
        "  incident: &both { record_limit: { policy: none }, batch: { max_offsets: 10 } }\n"
        "  fixed: { <<: *both, record_limit: { policy: serialized } }"
    )
    assert list(found(file)) == ["record_limit.policy"]
    without = found(file)["record_limit.policy"].load(file)
    assert without is None or without.scenario.overlay("incident") == file.scenario.overlay("incident")


def test_what_is_invalid_without_it_says_so(load: Load) -> None:
    file = load(
        "  incident: { fetch: { deadline: 90s } }\n  fixed: { fetch: { deadline: 60s, request_timeout: 50s } }",
    )
    bad = RevertedDifference("x", "arms.fixed.x", None, None, file.document | {"until": {}})
    with pytest.raises(InvalidFileError):
        bad.load(file)
