"""The `docker` command, what it means when it fails, and the removal of what a run left in an engine."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.docker.access import DockerAccess, find_docker
from devkit.docker.causes import CAUSES, EngineError, ImageError, PortError, explain
from devkit.docker.command import docker
from devkit.docker.leftovers import remaining, remove_containers
from devkit.docker.preflight import Ask, Engine, check_compose, check_engine
from devkit.errors import DevkitError, SetupError, StackError, WaitTimeoutError
from tests.unit.devkit.docker.fake_docker import FakeDocker

pytestmark = pytest.mark.starts_process("the docker command is a script that gives the answers")
ENGINE = [
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "Cannot connect to the Docker daemon at tcp://127.0.0.1:1. Is the docker daemon running?",
    "error during connect: this error may indicate that the docker daemon is not running: Get "
    '"http://%2F%2F.%2Fpipe%2Fdocker_engine/v1.24/info": open //./pipe/docker_engine: The system cannot find the file',
    "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "
    '"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/info": dial unix /var/run/docker.sock: connect: permission denied',
    "failed to connect to the docker API at unix:///run/docker.sock; check if the path is correct: "
    "dial unix /run/docker.sock: connect: no such file or directory",
    "docker: unknown command: docker compose\n\nRun 'docker --help' for more information",
    "docker: 'compose' is not a docker command.\nSee 'docker --help'",
    "unknown shorthand flag: 'f' in -f\n\nUsage:  docker [OPTIONS] COMMAND [ARG...]\n\nRun 'docker --help' for more",
]
PORT = [
    "Error response from daemon: driver failed programming external connectivity on endpoint devkit-1-kafka-1 (ab): "
    "Error starting userland proxy: listen tcp4 127.0.0.1:31092: bind: address already in use",
    "Error response from daemon: driver failed programming external connectivity on endpoint x (ab): "
    "Bind for 127.0.0.1:31092 failed: port is already allocated",
    "Error response from daemon: Ports are not available: exposing port TCP 127.0.0.1:9092 -> 0.0.0.0:0: listen tcp",
]
IMAGE = [
    'Error response from daemon: Get "https://registry.example/v2/": dial tcp: lookup registry.example on 10.0.0.1:53: '
    "no such host",
    "Error response from daemon: pull access denied for apache/kafka, repository does not exist or may require 'docker "
    "login': denied: requested access to the resource is denied",
    "Error response from daemon: manifest for apache/kafka:0.0.0 not found: manifest unknown: manifest unknown",
    'failed to solve: python:3.11-slim: failed to resolve source metadata for "docker.io/library/python:3.11-slim": '
    "dial tcp: lookup registry.example: i/o timeout",
    "Error response from daemon: No such image: apache/kafka:4.3.1",
    "toomanyrequests: You have reached your pull rate limit.",
]
ACCESS = DockerAccess(command="/nowhere/docker")
LISTS = {"ps": "containers", "network": "networks", "volume": "volumes"}


def test_what_it_prints_comes_back(fake: FakeDocker) -> None:
    access = fake.answer(("ps", 0, "abc\n", "a warning"))
    assert docker(access, ["ps", "-q"], what="looking") == "abc\n"
    assert fake.asked() == [["unix:///fake.sock", "ps", "-q"]]


def test_a_failure_is_explained(fake: FakeDocker) -> None:
    access = fake.answer(("ps", 1, "", "Cannot connect to the Docker daemon at unix:///fake.sock."))
    with pytest.raises(EngineError, match=r"^looking: no Docker engine answers"):
        docker(access, ["ps"], what="looking")


def test_an_engine_that_hangs_is_not_waited_for() -> None:
    with pytest.raises(EngineError, match=r"did not answer within 0.05 s"):
        docker(DockerAccess(command="sleep"), ["600"], what="looking", deadline=timedelta(milliseconds=50))


def test_a_command_that_is_gone() -> None:
    with pytest.raises(StackError, match="/nowhere/docker cannot be run: No such file"):
        docker(DockerAccess(command="/nowhere/docker"), ["ps"], what="looking")


def test_the_command_on_path_and_the_engine_of_the_environment(fake: FakeDocker) -> None:
    fake.answer()
    environment = {"PATH": str(fake.place), "DOCKER_HOST": "ssh://there", "DOCKER_CONTEXT": "x", "HOME": "/h"}
    assert find_docker(environment) == DockerAccess(
        command=str(fake.place / "docker"), environment={"DOCKER_HOST": "ssh://there", "DOCKER_CONTEXT": "x"}
    )


def test_without_the_command_there_is_a_way_out() -> None:
    with pytest.raises(SetupError, match="no `docker` command on PATH") as caught:
        find_docker({"PATH": "/nowhere"})
    assert caught.value.exit_code == 3
    assert "--stack embedded" in (caught.value.hint or "")


def test_another_engine_of_the_present_shell_is_not_asked() -> None:
    """Who heals a run may have set up another engine than who started it."""
    access = DockerAccess(command="docker", environment={"DOCKER_HOST": "unix:///a"})
    here = {"DOCKER_HOST": "unix:///b", "DOCKER_CONTEXT": "other", "HOME": "/h"}
    assert access.environ(here) == {"DOCKER_HOST": "unix:///a", "HOME": "/h"}


NOBODY = DockerAccess(command="/nowhere/docker")
GIB = 1024**3


def says(text: str) -> Ask:
    def ask(_arguments: Sequence[str], _what: str) -> str:
        return text

    return ask


def engine(version: str = "28.2.2", memory_bytes: int = 4 * GIB, **more: object) -> Ask:
    return says(json.dumps({"ServerVersion": version, "MemTotal": memory_bytes, **more}))


def test_an_engine_that_will_do() -> None:
    assert check_engine(NOBODY, needed_bytes=3 * GIB, ask=engine()) == Engine("28.2.2", 4 * GIB)


@pytest.mark.parametrize("answer", ["", "no json", "{}", '{"ServerVersion": "", "MemTotal": 0}'])
def test_no_engine(answer: str) -> None:
    with pytest.raises(EngineError, match="no Docker engine answers"):
        check_engine(NOBODY, ask=says(answer))


def test_what_the_command_says_of_the_missing_engine_is_passed_on() -> None:
    with pytest.raises(EngineError, match="no Docker engine answers: Cannot connect to it"):
        check_engine(NOBODY, ask=engine("", ServerErrors=["Cannot connect to it"]))


def test_an_old_engine() -> None:
    with pytest.raises(SetupError, match=r"Docker engine 19\.03\.5 is too old, 20\.10 is needed"):
        check_engine(NOBODY, ask=engine("19.03.5"))


def test_too_little_memory_for_the_limits() -> None:
    with pytest.raises(StackError, match="has 2048 MiB of memory, the containers may use 3072 MiB") as caught:
        check_engine(NOBODY, needed_bytes=3 * GIB, ask=engine(memory_bytes=2 * GIB))
    assert "--stack embedded" in (caught.value.hint or "")


@pytest.mark.parametrize("version", ["2.20.0", "v2.40.3", "2.40.3-desktop.1", "5.0.0"])
def test_compose_that_will_do(version: str) -> None:
    assert check_compose(NOBODY, ask=says(f"{version}\n")) == version


@pytest.mark.parametrize("version", ["1.29.2", "2.19.9", "v2.6.0", "dev"])
def test_compose_that_is_too_old(version: str) -> None:
    with pytest.raises(SetupError, match=f"Docker Compose {version} is too old, 2.20 is needed"):
        check_compose(NOBODY, ask=says(version))


def test_compose_that_is_missing(fake: FakeDocker) -> None:
    access = fake.answer(("compose", 125, "", "unknown flag: --short\n\nUsage:  docker [OPTIONS] COMMAND [ARG...]"))
    with pytest.raises(DevkitError, match="the docker command has no `compose`") as caught:
        check_compose(access)
    assert caught.value.exit_code == 3
    assert "docker-compose-plugin" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        *((EngineError, text) for text in ENGINE),
        *((PortError, text) for text in PORT),
        *((ImageError, text) for text in IMAGE),
    ],
)
def test_what_is_printed_has_a_cause_and_a_remedy(error: type[StackError], printed: str) -> None:
    explained = explain("starting the containers", printed)
    assert type(explained) is error
    assert str(explained).startswith("starting the containers: ")
    assert explained.hint
    assert explained.exit_code == 3


def test_the_line_that_tells_is_kept() -> None:
    printed = f" Container x  Starting\n{PORT[0]}\n"
    assert "127.0.0.1:31092: bind: address already in use" in str(explain("starting", printed))


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("write /var/lib/docker/tmp/x: no space left on device", "Docker's disk is full"),
        ("Error response from daemon: range of CPUs is from 0.01 to 1.00, as there are only 1 CPUs", "fewer CPUs"),
    ],
)
def test_other_causes(printed: str, words: str) -> None:
    explained = explain("starting", printed)
    assert words in str(explained)
    assert explained.hint


@pytest.mark.parametrize("printed", ["", "\n \n", "something new"])
def test_an_unknown_text_is_passed_on(printed: str) -> None:
    explained = explain("starting", printed)
    assert str(explained) == f"starting: {printed.strip() or 'it printed nothing'}"
    assert explained.hint is None


def test_each_cause_is_met_by_one_of_these_texts() -> None:
    texts = [*ENGINE, *PORT, *IMAGE, "no space left on device", "range of CPUs is from 0.01 to 1.00"]
    assert [cause.message for cause in CAUSES if not any(cause.pattern.search(text) for text in texts)] == []


@dataclass
class FakeEngine:
    """`late` holds what appears at a time; `stuck` cannot be removed."""

    things: dict[str, set[str]]
    late: dict[float, tuple[str, str]] = field(default_factory=dict)
    stuck: frozenset[str] = frozenset()
    now: float = 0.0
    gone_at: float | None = None

    def command(self, _access: DockerAccess, arguments: list[str]) -> str:
        for moment in [moment for moment in self.late if moment <= self.now]:
            kind, name = self.late.pop(moment)
            self.things.setdefault(kind, set()).add(name)
        if self.gone_at is not None and self.now >= self.gone_at:
            raise EngineError("no Docker engine answers")
        match arguments:
            case ["ps" | "network" | "volume" as kind, *_] if "--filter" in arguments:
                assert arguments[-1] == "label=enrichment-devkit.run=cafe"
                return "\n".join(sorted(self.things.get(LISTS[kind], ())))
            case ["rm", "--force", "--volumes", *names]:
                return self._remove("containers", names)
            case ["network", "rm", *names]:
                # As an engine does: a network with a container in it stays.
                if self.things.get("containers"):
                    raise StackError("network has active endpoints")
                return self._remove("networks", names)
            case ["volume", "rm", "--force", *names]:
                return self._remove("volumes", names)
        raise AssertionError(arguments)

    def _remove(self, kind: str, names: list[str]) -> str:
        self.things[kind] -= set(names) - self.stuck
        return ""

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def end(self) -> None:
        remove_containers(ACCESS, "cafe", command=self.command, clock=lambda: self.now, sleep=self.sleep)


NAMES = st.sets(st.text("abcdef", min_size=1, max_size=3), max_size=4)


@given(
    things=st.fixed_dictionaries({"containers": NAMES, "networks": NAMES, "volumes": NAMES}),
    late=st.dictionaries(
        st.floats(0, 0.9), st.tuples(st.sampled_from(sorted(LISTS.values())), st.sampled_from("xyz")), max_size=4
    ),
)
def test_nothing_is_left_also_of_what_appears_late(
    things: dict[str, set[str]], late: dict[float, tuple[str, str]]
) -> None:
    engine = FakeEngine(things, late)
    engine.end()
    assert not engine.late
    assert not any(engine.things.values())


def test_what_is_left_is_named() -> None:
    engine = FakeEngine({"volumes": {"a", "b"}}, stuck=frozenset("b"))
    with pytest.raises(WaitTimeoutError, match=r"did not remove \{'volumes': \['b'\]\} of run cafe"):
        engine.end()
    assert engine.now >= 60


@pytest.mark.parametrize("gone_at", [0, 0.5])
def test_without_an_engine_it_does_not_go_on(gone_at: float) -> None:
    engine = FakeEngine({"containers": {"a"}}, gone_at=gone_at)
    with pytest.raises(EngineError):
        engine.end()
    assert engine.now < 1


def test_what_remains_by_kind() -> None:
    engine = FakeEngine({"containers": {"a"}, "networks": set(), "volumes": {"v", "w"}})
    assert remaining(ACCESS, "cafe", command=engine.command) == {"containers": ["a"], "volumes": ["v", "w"]}
