"""What is wrong with a file is said with place, value and remedy; the base of each is `incident.yaml`."""

from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.scenario.load import find_scenario, load_scenario
from devkit.scenario.model import Scenario
from mockapi.rules.model import Do
from tests.unit.devkit.conftest import TEXT, Edited

SHIPPED = sorted((Path(__file__).parents[4] / "scenarios").rglob("*.y*ml"))

# What is changed in the file, and all that is said of it.
BAD = {
    "unknown key at the top": (
        ("time_scale:", "time_scal:"),
        ["5:1: time_scal: unknown key; did you mean 'time_scale'?"],
    ),
    "unknown key with nothing like it": (
        ("time_scale: 60", "zzz: 60"),
        [
            "5:1: zzz: unknown key; there are: name, title, incident, extend, time_scale, preserves, traffic, mock, "
            "timeline, kafka, programs, pipeline, container, traffic_begins, supervisor, margin, until, cause, "
            "arms, tried_first, expect"
        ],
    ),
    "a time scale without end": (
        ("time_scale: 60", "time_scale: .inf"),
        ["5:1: time_scale: must be a finite number (got inf)"],
    ),
    "a margin without end": (
        ("time_scale: 60", "margin: .inf"),
        ["5:1: margin: must be a finite number (got inf)"],
    ),
    "a value that is not what it looks like": (
        ("time_scale: 60", "time_scale: 2026-02-30"),
        ["5:13: not YAML: '2026-02-30' cannot be read: day is out of range for month"],
    ),
    "unknown key in incident": (
        ("{ reference:", "{ referense:"),
        ["4:1: incident.reference: is missing", "4:13: incident.referense: unknown key; did you mean 'reference'?"],
    ),
    "unknown key in traffic": (
        ("  seed: 7", "  seed: 7\n  populaton: 50"),
        ["10:3: traffic.populaton: unknown key; did you mean 'population'?"],
    ),
    "unknown key of a page": (
        ("{ edits: 1,", "{ edit: 1,"),
        ["13:13: traffic.pages.Huge.edit: unknown key; did you mean 'edits'?"],
    ),
    "unknown key of a page whose title has brackets": (
        ("Huge: { edits: 1,", "Mercury (planet): { edit: 1,"),
        ["13:25: traffic.pages.Mercury (planet).edit: unknown key; did you mean 'edits'?"],
    ),
    "unknown key of a mock rule": (
        ("when:", "wen:"),
        ["17:7: mock.rules[0].wen: unknown key; did you mean 'when'?"],
    ),
    "unknown key in a rule's condition": (
        ("{ page: Huge }", "{ pgae: Huge }"),
        ["17:15: mock.rules[0].when.pgae: unknown key; did you mean 'page'?"],
    ),
    "unknown key of a fault": (
        ("changed_bytes:", "change_bytes:"),
        ["18:33: mock.rules[0].do.body.change_bytes: unknown key; did you mean 'changed_bytes'?"],
    ),
    "unknown topic": (
        ("    output:", "    outputs:"),
        ["22:5: kafka.topics.outputs: unknown key; did you mean 'output'?"],
    ),
    "unknown setting of a topic": (
        ("source: { max.message.bytes", "source: { max.mesage.bytes"),
        ["21:15: kafka.topics.source.max.mesage.bytes: unknown key; did you mean 'max.message.bytes'?"],
    ),
    "unknown condition": (
        ("{ replays: 2 }", "{ replay: 2 }"),
        ["28:30: until.any[1].replay: unknown key; did you mean 'replays'?"],
    ),
    "unknown check": (
        ("- restarts:", "- restart:"),
        ["38:7: expect.incident[0].restart: unknown key; did you mean 'restarts'?"],
    ),
    "unknown bound": (
        ("{ at_least: 2 }", "{ atleast: 2 }"),
        ["38:19: expect.incident[0].restarts.atleast: unknown key; did you mean 'at_least'?"],
    ),
    "unknown key in pipeline": (
        ("  batch:", "  btach:"),
        ["25:3: pipeline.btach: unknown key; did you mean 'batch'?"],
    ),
    "unknown key deep in pipeline": (
        ("max_offsets", "max_ofsets"),
        ["25:12: pipeline.batch.max_ofsets: unknown key; did you mean 'max_offsets'?"],
    ),
    "unknown key of an arm": (
        ("    content_limit:", "    content_limits:"),
        ["32:5: arms.incident.content_limits: unknown key; did you mean 'content_limit'?"],
    ),
    "unknown arm": (
        ("  fixed:\n    record", "  fixd:\n    record"),
        ["34:3: arms.fixd: arm 'fixd' says no role; did you mean 'fixed'?"],
    ),
    "missing arm": (
        ("  fixed:\n    record_limit: { policy: serialized }\n", ""),
        ["30:1: arms: no arm has the role fixed; write one under `fixed:`, or one of another name with `role: fixed`"],
    ),
    "missing at the top": (
        ("title: A page that is too large\n", ""),
        ["1:1: title: is missing"],
    ),
    "wrong unit of a duration": (
        ("for: 8s", "for: 10 sec"),
        ["11:3: traffic.for: unknown unit 'sec' (got '10 sec'); write 10s (us, ms, s, m, h, d)"],
    ),
    "duration without a unit": (
        ("deadline: 90s", "deadline: 90"),
        ["29:3: until.deadline: not a duration (got 90); write 90ms or 90s (us, ms, s, m, h, d)"],
    ),
    "no time at all": (
        ("deadline: 90s", "deadline: 0s"),
        ["29:3: until.deadline: must be above 0 (got '0s'); write for example 10s (us, ms, s, m, h, d)"],
    ),
    "wrong unit of a size": (
        ("size: 2MiB", "size: 2 MiX"),
        [
            "18:21: mock.rules[0].do.body.size.fixed: unknown unit 'MiX' (got '2 MiX'); "
            "write 2MiB (B, KiB, MiB, GiB, kB, MB, GB)"
        ],
    ),
    "a unit in the wrong case": (
        ("source: { max.message.bytes: 8MiB", "source: { max.message.bytes: 8 Mib"),
        [
            "21:15: kafka.topics.source.max.message.bytes: unknown unit 'Mib' (got '8 Mib'); "
            "write 8MiB (B, KiB, MiB, GiB, kB, MB, GB)"
        ],
    ),
    "a size with a comma": (
        ("source: { max.message.bytes: 8MiB", "source: { max.message.bytes: '8,5MiB'"),
        [
            "21:15: kafka.topics.source.max.message.bytes: not a size (got '8,5MiB'); "
            "write 20MiB (B, KiB, MiB, GiB, kB, MB, GB) or a whole number of bytes"
        ],
    ),
    "a size in words": (
        ("source: { max.message.bytes: 8MiB", "source: { max.message.bytes: plenty"),
        [
            "21:15: kafka.topics.source.max.message.bytes: not a size (got 'plenty'); "
            "write 20MiB (B, KiB, MiB, GiB, kB, MB, GB) or a whole number of bytes"
        ],
    ),
    "a rate without its unit": (
        ("rate: 20/s", "rate: 20"),
        ["10:3: traffic.rate: not a rate (got 20); write 20/s (s, m, h, d)"],
    ),
    "a mapping is wanted": (
        ("sink: { max.request.size: 20971520 }", "sink: 20971520"),
        ["24:3: pipeline.sink: must be a mapping of keys to values (got 20971520)"],
    ),
    "a section without anything in it": (
        ("    source: { max.message.bytes: 8MiB }", "    source:"),
        ["21:5: kafka.topics.source: must be a mapping of keys to values (it is empty)"],
    ),
    "a list is wanted": (
        ("any: [{ drained: true }, { replays: 2 }]", "any: drained"),
        ["28:3: until.any: must be a list (got 'drained'); write [drained]"],
    ),
    "a text is wanted": (
        ('message: "23048294"', "message: 23048294"),
        ["39:52: expect.incident[1].exception.message: must be text (got 23048294); write it in quotes"],
    ),
    "a truth value is wanted": (
        ("- drained: true", "- drained: perhaps"),
        ["41:7: expect.fixed[0].drained: must be true or false (got 'perhaps')"],
    ),
    "a number is wanted": (
        ("seed: 7", "seed: seven"),
        [
            "9:3: traffic.seed: must be a whole number (got 'seven')",
        ],
    ),
    "a long value is cut": (
        ("seed: 7", f"seed: {'x' * 80}"),
        [
            f"9:3: traffic.seed: must be a whole number (got '{'x' * 59}…)",
        ],
    ),
    "a name that is no name": (
        ("name: an-incident", "name: An Incident"),
        [
            "2:1: name: must be 1 to 61 lower case letters, digits and hyphens (got 'An Incident'); "
            "write for example an-incident"
        ],
    ),
    "a condition with a word of other YAMLs": (
        ("{ drained: true }", "{ drained: yes }"),
        ["28:11: until.any[0].drained: must be true (got 'yes'); write true"],
    ),
    "an expectation with a truth value in place of its word": (
        ("- audit: clean", "- audit: true"),
        ["42:7: expect.fixed[1].audit: must be 'clean' (got true); write clean"],
    ),
    "an expectation without its value": (
        ("- drained: true", "- drained"),
        [
            "41:7: expect.fixed[0]: must be a mapping of keys to values (got 'drained'); "
            "write `drained: …`, with its value behind the colon"
        ],
    ),
    "a condition without its value": (
        ("{ replays: 2 }", "replays"),
        [
            "28:28: until.any[1]: must be a mapping of keys to values (got 'replays'); "
            "write `replays: …`, with its value behind the colon"
        ],
    ),
    "the length of the traffic by another word": (
        ("  for: 8s", "  duration: 8s"),
        ["7:1: traffic.for: is missing", "11:3: traffic.duration: unknown key; did you mean 'for'?"],
    ),
    "an invalid value in an arm": (
        ("policy: serialized", "policy: serialised"),
        [
            "35:21: arms.fixed.record_limit.policy: must be 'serialized' or 'none' (got 'serialised'); "
            "did you mean 'serialized'?"
        ],
    ),
    "an invalid value in pipeline": (
        ("max_offsets: 50", "max_offsets: 0"),
        ["25:12: pipeline.batch.max_offsets: must be greater than 0 (got 0)"],
    ),
    "an invalid value in pipeline below a section that an arm has too": (
        (
            "sink: { max.request.size: 20971520 }\n  batch: { max_offsets: 50 }",
            "record_limit: { polcy: none }\n  batch: { max_offsets: 50 }",
        ),
        ["24:19: pipeline.record_limit.polcy: unknown key; did you mean 'policy'?"],
    ),
    "a single item that is wrong does not make the list empty as well": (
        ("  fixed:\n    - drained: true\n    - audit: clean\n", "  fixed: [{ draned: true }]\n"),
        ["40:13: expect.fixed[0].draned: unknown key; did you mean 'drained'?"],
    ),
    "an arm that is no mapping": (
        ("  fixed:\n    record_limit: { policy: serialized }", "  fixed: [1]"),
        ["34:3: arms.fixed: must be a mapping of keys to values (got a list)"],
    ),
    "a key that the stack gives, in pipeline": (
        ("sink: {", "sink: { bootstrap_servers: 'k:1',"),
        ["24:11: pipeline.sink.bootstrap_servers: is given by the stack; leave it out"],
    ),
    "a key that the stack gives, in an arm": (
        ("    record_limit: { policy: serialized }", "    checkpoint: s3a://mine"),
        ["35:5: arms.fixed.checkpoint: is given by the stack; leave it out"],
    ),
    "a key that the stack gives, in what is tried first": (
        ("expect:\n", "tried_first: { fixed: { checkpoint: s3a://mine } }\nexpect:\n"),
        ["36:25: tried_first.fixed.checkpoint: is given by the stack; leave it out"],
    ),
    "an unknown key in what is tried first": (
        ("expect:\n", "tried_first: { fixed: { metrics: { prot: 0 } } }\nexpect:\n"),
        ["36:36: tried_first.fixed.metrics.prot: unknown key; did you mean 'port'?"],
    ),
    "an arm that is not there, tried first": (
        ("expect:\n", "tried_first: { fixd: {} }\nexpect:\n"),
        ["36:16: tried_first.fixd: there is no arm 'fixd'; did you mean 'fixed'?"],
    ),
    "an arm's own mistake is not told again by what is tried first on top of it": (
        (
            "record_limit: { policy: serialized }\nexpect:\n",
            "record_limit: { polcy: none }\ntried_first: { fixed: { batch: { max_offsets: 7 } } }\nexpect:\n",
        ),
        ["35:21: arms.fixed.record_limit.polcy: unknown key; did you mean 'policy'?"],
    ),
    "two checks in one expectation": (
        ("- restarts: { at_least: 2 }", "- { restarts: 2, replays: 1 }"),
        ["38:7: expect.incident[0]: exactly one expectation in each item; write several items"],
    ),
    "a check of nothing": (
        ("- restarts: { at_least: 2 }", "- restarts:"),
        ["38:7: expect.incident[0].restarts: restarts says nothing; write what it must be"],
    ),
    "a condition of nothing": (
        ("{ replays: 2 }", "{ replays: }"),
        ["28:30: until.any[1].replays: replays says nothing; write its value"],
    ),
    "an item without a condition": (
        ("{ drained: true }, { replays: 2 }", "{}, { replays: 2 }"),
        [
            "28:9: until.any[0]: no condition; write one of drained, restarts, replays, gave_up, elapsed, running_for, "
            "log, metric, any, all"
        ],
    ),
    "a bound that no number meets": (
        ("{ at_least: 2 }", "{ at_least: 2, at_most: 1 }"),
        ["38:7: expect.incident[0].restarts: no number is at least 2 and at most 1; swap them?"],
    ),
    "no bound": (
        ("{ at_least: 2 }", "often"),
        ["38:7: expect.incident[0].restarts: 'often' is no bound; write a number or {at_least: …, at_most: …}"],
    ),
    "no share": (
        ("restarts: { at_least: 2 }", "abandoned: { at_least: 0.5 of all }"),
        ["38:20: expect.incident[0].abandoned.at_least: not a share (got '0.5 of all'); write 5% or 0.05, up to 100%"],
    ),
    "no duration": (
        ("restarts: { at_least: 2 }", "flat_commit: 8"),
        [
            "38:7: expect.incident[0].flat_commit: 8 is no bound; write a duration such as 8s or "
            "{at_least: …, at_most: …}"
        ],
    ),
    "a bound that no duration meets": (
        ("restarts: { at_least: 2 }", "flat_commit: { at_least: 8s, at_most: 1500ms }"),
        ["38:7: expect.incident[0].flat_commit: no duration is at least 8s and at most 1500ms; swap them?"],
    ),
    "unknown key of a check with more than bounds": (
        ("restarts: { at_least: 2 }", "latency: { percentil: 50, at_most: 5s }"),
        [
            "38:7: expect.incident[0].latency.percentile: is missing",
            "38:18: expect.incident[0].latency.percentil: unknown key; did you mean 'percentile'?",
        ],
    ),
    "nothing to measure success of": (
        ("restarts: { at_least: 2 }", "success_rate: { of: after faults, at_most: 40% }"),
        [
            "38:23: expect.incident[0].success_rate.of: must be 'all' or 'after fault' (got 'after faults'); "
            "did you mean 'after fault'?",
        ],
    ),
    "nothing expected": (
        ("  fixed:\n    - drained: true\n    - audit: clean\n", "  fixed: []\n"),
        ["40:3: expect.fixed: must not be empty"],
    ),
    "two rules of one name": (
        ("    - name: huge page", "    - { name: huge page, do: { status: 504 } }\n    - name: huge page"),
        [
            "15:3: mock.rules: rule name 'huge page' is there twice; the journal counts by name, "
            "so give each rule its own"
        ],
    ),
    "a fault that nobody can see fire": (
        (
            "      when: { page: Huge }\n      do: { body: { size: 2MiB, changed_bytes: 64KiB, encoding: gzip } }",
            "      do: { refuse: 5s }",
        ),
        [
            "17:13: mock.rules[0].do.refuse: it cannot be shown that it fired: a refused connection leaves no trace; "
            "`reset: before headers` is next to it"
        ],
    ),
    "a rule without a fault": (
        ("{ body: { size: 2MiB, changed_bytes: 64KiB, encoding: gzip } }", "{}"),
        [f"18:7: mock.rules[0].do: no fault; at least one of {', '.join(Do.model_fields)}"],
    ),
    "the traffic's own rules: shares": (
        ("  seed: 7", "  seed: 7\n  mix: { create: 0.9, move: 0.9 }"),
        ["10:3: traffic.mix: the shares add up to 1.95, make that 1 or less; plain edits are the rest"],
    ),
    "the traffic's own rules: titles": (
        ("Huge: {", "huge: {"),
        ["13:5: traffic.pages.huge: page title 'huge': a wiki begins it with a capital, write 'Huge'"],
    ),
    "the traffic's own rules: moments": (
        ("at: [0.4]", "at: [0.4, 0.5]"),
        ["13:43: traffic.pages.Huge.at: at names 2 moments for 1 edits, write one for each edit"],
    ),
    "the traffic's own rules: no events": (
        ("for: 8s", "for: 0s"),
        ["11:3: traffic.for: must be above 0 (got '0s'); write for example 10s (us, ms, s, m, h, d)"],
    ),
    "a merged key": (
        (
            "    source: { max.message.bytes: 8MiB }\n    output: { max.message.bytes: 32MiB }",
            "    source: &big { max.mesage.bytes: 8MiB }\n    output: { <<: *big }",
        ),
        [
            "21:20: kafka.topics.source.max.mesage.bytes: unknown key; did you mean 'max.message.bytes'?",
            "22:5: kafka.topics.output.max.mesage.bytes: unknown key; did you mean 'max.message.bytes'?",
        ],
    ),
}


def load_text(directory: Path, text: str) -> Scenario:
    path = directory / "scenario.yaml"
    path.write_text(text)
    return load_scenario(path)


@pytest.mark.parametrize(("change", "message"), [pytest.param(*case, id=name) for name, case in BAD.items()])
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, edited: Edited, change: tuple[str, str], message: list[str]
) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(edited(change))
    with pytest.raises(InvalidFileError) as caught:
        load_scenario(path)
    assert str(caught.value).splitlines() == [f"{path}:{line}" for line in message]


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path: Path, edited: Edited) -> None:
    text = edited(("deadline: 90s", "deadline: 90"), ("seed: 7", "sed: 7"), ("for: 8s", "for: 8"))
    with pytest.raises(InvalidFileError) as caught:
        load_text(tmp_path, text)
    assert [(problem.line, problem.text.split(":")[0]) for problem in caught.value.problems] == [
        (7, "traffic.seed"),
        (9, "traffic.sed"),
        (11, "traffic.for"),
        (29, "until.deadline"),
    ]


def test_what_is_wrong_in_both_arms_alike_is_told_once(tmp_path: Path, edited: Edited) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_text(tmp_path, edited(("max_offsets: 50", "max_offsets: none")))
    assert len(caught.value.problems) == 1


def test_the_same_mistake_in_both_arms_is_told_at_both_places(tmp_path: Path, edited: Edited) -> None:
    text = edited(("policy: none", "policy: x"), ("policy: serialized", "policy: x"))
    with pytest.raises(InvalidFileError) as caught:
        load_text(tmp_path, text)
    assert [problem.line for problem in caught.value.problems] == [33, 35]


def test_a_valid_file_is_what_it_says(scenario: Scenario) -> None:
    assert scenario.name == "an-incident"
    assert scenario.traffic.event_count == 161
    assert scenario.until.deadline.total_seconds() == 90
    assert scenario.supervisor.delay.total_seconds() == 2
    assert scenario.traffic_begins == "at once"
    assert [rule.name for rule in scenario.mock.rules] == ["huge page"]
    assert scenario.kafka.topics.output.kafka_settings() == {"max.message.bytes": str(32 * 1024 * 1024)}
    assert scenario.kafka.topics.error.kafka_settings() == {}
    assert scenario.overlay("fixed") == {"record_limit": {"policy": "serialized"}}
    assert len(scenario.expected_of("incident")) == len(scenario.expected_of("fixed")) == 2


def test_an_arm_may_have_nothing_of_its_own(tmp_path: Path, edited: Edited) -> None:
    text = edited(("  fixed:\n    record_limit: { policy: serialized }\n", "  fixed:\n"))
    assert load_text(tmp_path, text).overlay("fixed") == {}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_scenario_is_valid_and_found_by_its_name(path: Path) -> None:
    scenario = load_scenario(path)
    assert find_scenario(scenario.name, path.parent) == path


def test_there_are_shipped_scenarios() -> None:
    assert SHIPPED


class TestFinding:
    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        for name in ("oversized-thing", "slow-page"):
            (tmp_path / f"{name}.yaml").write_text(TEXT)
        return tmp_path

    def test_by_name(self, directory: Path) -> None:
        assert find_scenario("slow-page", directory) == directory / "slow-page.yaml"

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("slow-pgae", "did you mean 'slow-page'?"),
            ("SLOW", "there are: oversized-thing, slow-page"),
            ("", "there are: oversized-thing, slow-page"),
        ],
    )
    def test_an_unknown_name_brings_the_near_miss(self, directory: Path, name: str, hint: str) -> None:
        with pytest.raises(UsageError) as caught:
            find_scenario(name, directory)
        assert str(caught.value) == f"there is no scenario {name!r} in {directory}"
        assert caught.value.hint == hint

    def test_where_there_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError) as caught:
            find_scenario("slow-page", tmp_path / "nowhere")
        assert caught.value.hint == "there are: none"

    @pytest.mark.parametrize("suffix", ["yaml", "yml"])
    def test_by_file(self, tmp_path: Path, suffix: str) -> None:
        file = tmp_path / f"mine.{suffix}"
        file.write_text(TEXT)
        assert find_scenario(str(file), tmp_path / "nowhere") == file

    @pytest.mark.parametrize("name", ["mine.yaml", "./mine", "deep/mine.yml"])
    def test_a_file_that_is_not_there(self, directory: Path, name: str) -> None:
        with pytest.raises(UsageError, match=f"there is no scenario file {name}"):
            find_scenario(name, directory)

    def test_a_directory_is_no_scenario(self, directory: Path) -> None:
        with pytest.raises(UsageError, match="is a directory, not a scenario file"):
            find_scenario(f"{directory}/", directory)
