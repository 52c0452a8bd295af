"""A timeline that cannot be played is refused before anything starts, at its place in the file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError
from devkit.scenario.load import load_scenario

BASE = (Path(__file__).parents[1] / "incident.yaml").read_text()
BEFORE = "kafka:\n  topics:"


def write(tmp_path: Path, item: str) -> Path:
    file = tmp_path / "s.yaml"
    file.write_text(BASE.replace(BEFORE, f"timeline:\n  - {item}\n{BEFORE}"))
    return file


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str], str]:
    def load(item: str) -> str:
        file = write(tmp_path, item)
        with pytest.raises(InvalidFileError) as caught:
            load_scenario(file)
        return str(caught.value).removeprefix(str(file))

    return load


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{name: x, do: {kill_process: {process: driver, program: enrich}}, at: 1s}", "there is no program 'enrich'"),
        ("{name: x, do: {kill: {part: triple-store}}, at: 1s}", "the stack has no part 'triple-store'"),
        ("{name: x, do: {restore: {}}, at: 1s}", "nothing to restore: no `copy` acts in fixed, incident"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(refused: Callable[[str], str], item: str, message: str) -> None:
    assert message in refused(item)


QUOTA = "{{name: {name}, do: {{client_quota: {{{quota}}}}}, {time}}}\n  - "


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (("produce: 1KiB", "at: 1s, for: 2s"), ("produce: 2KiB", "at: 9s"), ""),
        (("produce: 1KiB", "at: 1s"), ("fetch: 2KiB", "at: 1s"), ""),
        (("produce: 1KiB", "at: 1s"), ("client: x, produce: 2KiB", "at: 1s"), ""),
        (("produce: 1KiB", "at: 1s, arms: [incident]"), ("produce: 2KiB", "at: 1s, arms: [fixed]"), ""),
        (("produce: 1KiB", "at: 1s"), ("produce: 2KiB", "when: {committed: 50%}"), ""),
    ],
)
def test_two_that_would_restore_each_others_settings_at_once(
    tmp_path: Path, one: tuple[str, str], two: tuple[str, str], message: str
) -> None:
    items = [QUOTA.format(name=name, quota=quota, time=time) for name, (quota, time) in (("one", one), ("two", two))]
    file = write(tmp_path, "".join(items).removesuffix("\n  - "))
    if not message:
        assert len(load_scenario(file).timeline) == 2
        return
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(file)
    assert f"timeline[1].do.client_quota: {message}" in str(caught.value)


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        ("kill: {part: kafka}}, at: 1s", "pause: {part: object-store}}, at: 5s", ""),
        ("restart: {part: kafka}}, at: 1s", "restart: {part: kafka}}, at: 30s", ""),
        ("network_latency: {part: kafka, time: 1s}}, at: 1s", "network_cut: {part: kafka}}, at: 1s", ""),
        ("stop_process: {process: worker}}, at: 1s", "stop_process: {process: driver}}, at: 2s", ""),
        (
            "kafka_error: {error: lost_answer, api: offset_commit}}, at: 1s",
            "kafka_error: {error: lost_answer, api: fetch, topic: source}}, at: 1s",
            "",
        ),
    ],
)
def test_two_that_act_on_the_same_thing_at_once(tmp_path: Path, one: str, two: str, message: str) -> None:
    file = write(tmp_path, f"{{name: one, do: {{{one}}}\n  - {{name: two, do: {{{two}}}")
    if not message:
        assert len(load_scenario(file).timeline) == 2
        return
    with pytest.raises(InvalidFileError, match=f"acts on {message}, as 'one' does then"):
        load_scenario(file)


def test_a_timeline_that_can_be_played(tmp_path: Path) -> None:
    item = "{name: x, do: {pause: {part: kafka}}, when: {committed: 50%}, for: 5s, arms: [incident]}"
    (found,) = load_scenario(write(tmp_path, item)).timeline
    assert str(found) == "pause: {part: kafka}, when committed >= 50%, for 5s"


@pytest.mark.parametrize("topic", ["source", "error", "my-own.dead-letters"])
def test_a_topic_goes_by_its_role_or_by_the_name_that_a_program_gave_it(tmp_path: Path, topic: str) -> None:
    (found,) = load_scenario(
        write(tmp_path, f"{{name: x, do: {{add_partitions: {{topic: {topic}, partitions: 6}}}}, at: 1s}}")
    ).timeline
    assert topic in str(found)


def test_what_a_program_of_the_users_own_logs_is_not_known_before_it_runs(tmp_path: Path) -> None:
    file = write(tmp_path, "{name: x, do: {pause: {part: kafka}}, when: {event: tallied}}")
    with pytest.raises(InvalidFileError, match="no program logs an event 'tallied'"):
        load_scenario(file)
    file.write_text(file.read_text() + "programs: { mine: { run: 'command sh -c true' } }\n")
    assert str(load_scenario(file).timeline[0].when) == "event: tallied"


def test_each_of_three_brokers_is_a_part(tmp_path: Path) -> None:
    file = write(tmp_path, "{name: x, do: {kill: {part: kafka-3}}, at: 1s}")
    file.write_text(file.read_text().replace(BEFORE, "kafka:\n  brokers: 3\n  topics:"))
    assert str(load_scenario(file).timeline[0].do) == "kill: {part: kafka-3}"
    file.write_text(file.read_text().replace("kafka-3", "kafka"))
    with pytest.raises(InvalidFileError, match="the stack has no part 'kafka'; did you mean 'kafka-"):
        load_scenario(file)


def test_a_fault_after_the_time_that_every_arm_has_never_begins(tmp_path: Path) -> None:
    file = write(tmp_path, "{name: x, do: {pause: {part: kafka}}, at: 30s}")
    file.write_text(file.read_text().replace("{ replays: 2 }", "{ elapsed: 20s }"))
    with pytest.raises(InvalidFileError, match=r"timeline\[0\]\.at: each arm ends after 20s by `until`"):
        load_scenario(file)
    file.write_text(file.read_text().replace("{ elapsed: 20s }", "{ elapsed: 20s, restarts: 1 }"))
    load_scenario(file)


def test_a_misspelt_place_in_what_starts_a_program(tmp_path: Path) -> None:
    file = write(tmp_path, "{name: x, do: {pause: {part: kafka}}, at: 1s, for: 1s}")
    file.write_text(
        file.read_text() + "programs: { mine: { run: 'command echo {moc}', environment: { BROKERS: '{bootstap}' } } }\n"
    )
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(file)
    assert "programs.mine.run: there is no place {moc} to fill in; did you mean 'mock'?" in str(caught.value)
    assert "programs.mine.environment.BROKERS: there is no place {bootstap}" in str(caught.value)
