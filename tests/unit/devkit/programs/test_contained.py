"""A program in a container: how the engine is asked for it, and how it is ended."""

import json
import os
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from signal import SIGTERM
from typing import cast

import psutil
import pytest

from devkit.container.limits import Container
from devkit.debug.debugger import Debugger
from devkit.docker.access import DockerAccess, EngineImage
from devkit.errors import StackError, UsageError
from devkit.guardian import Guardian, ManagedProcess
from devkit.programs import contained as contained_module
from devkit.programs.consumer import ConsumerProgram
from devkit.programs.contained import ContainedProcess, EngineContainer
from devkit.programs.launch import Addition, Launch
from devkit.programs.places import NOWHERE
from devkit.programs.spark.program import SPARK
from tests.unit.devkit.programs.context import program_context
from tests.unit.devkit.programs.file_guardian import FileGuardian, Process

ACCESS = DockerAccess(command="/bin/docker", environment={"DOCKER_HOST": "unix:///engine"})
IMAGE = EngineImage(ACCESS, "spark-image")
ME = f"{os.getuid()}:{os.getgid()}"


@dataclass
class Engine:
    """One container; its docker command is the guardian's first process."""

    guardian: FileGuardian
    commands: list[list[str]] = field(default_factory=list)
    pid: int = 4242
    state: str = "true 0 false"

    def obey(self, access: DockerAccess, arguments: list[str], *, what: str) -> str:
        assert access == ACCESS
        assert arguments[0] == "container"
        assert arguments[-1].startswith("devkit-cafe-pipeline-1-")
        if arguments[1:3] == ["inspect", "--format"]:
            return str(self.pid) if "Pid" in arguments[3] else self.state
        self.commands.append(arguments[1:-1])
        if arguments[1] == "kill":
            if self.guardian.started[0].exit_code is not None:
                raise StackError("is not running")
            self.ends("false 137 false")
        return ""

    def ends(self, state: str) -> None:
        self.state, self.guardian.started[0].exit_code = state, 1


@pytest.fixture
def guardian(tmp_path: Path) -> FileGuardian:
    return FileGuardian(tmp_path)


@pytest.fixture
def engine(guardian: FileGuardian, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine(guardian)
    monkeypatch.setattr(contained_module, "docker", engine.obey)
    monkeypatch.setattr("devkit.stack.container_life.docker", engine.obey)
    monkeypatch.setattr(ManagedProcess, "tree", lambda self: guardian.started[0].processes)
    monkeypatch.setattr(ManagedProcess, "kill_tree", lambda self: setattr(guardian.started[0], "exit_code", 137))
    return engine


def container(tmp_path: Path) -> EngineContainer:
    return EngineContainer(IMAGE, 512 << 20, tmp_path / 'told, "so"', tmp_path / "scratch")


def spawned(guardian: FileGuardian, tmp_path: Path) -> ContainedProcess:
    launch = Launch(
        ("python3", "-m", "pipeline"),
        {"AWS_REGION": "here"},
        first=Addition(("--new", "earliest"), {"START": "new"}),
        container=container(tmp_path),
    )
    process = launch.spawn(cast(Guardian, guardian), "pipeline-1", logs=tmp_path)
    assert isinstance(process, ContainedProcess)
    return process


def following(words: list[str], option: str) -> list[str]:
    return [value for name, value in pairwise(words) if name == option]


def test_the_engine_is_asked_for_a_limited_container_of_the_run(
    guardian: FileGuardian, engine: Engine, tmp_path: Path
) -> None:
    spawned(guardian, tmp_path)
    (started,) = guardian.started
    words = list(started.argv)
    assert words[:2] == ["/bin/docker", "run"]
    assert following(words, "--label") == ["enrichment-devkit.run=cafe"]
    assert following(words, "--memory") == following(words, "--memory-swap") == [str(512 << 20)]
    assert following(words, "--network") == ["host"]
    assert following(words, "--user") == [ME]
    assert words[words.index("spark-image") + 1 :] == ["python3", "-m", "pipeline", "--new", "earliest"]
    # Values stay out of the process list, as the store's credentials are among them.
    assert following(words, "--env") == ["AWS_REGION", "START", "DEVKIT_RUN_ID", "DEVKIT_PROCESS_TREE"]
    assert started.env == {"DOCKER_HOST": "unix:///engine", "AWS_REGION": "here", "START": "new"}


def test_it_finds_what_it_is_told_where_that_is_outside(guardian: FileGuardian, engine: Engine, tmp_path: Path) -> None:
    spawned(guardian, tmp_path)
    mounted, scratch, users = following(list(guardian.started[0].argv), "--mount")
    directory = f'{tmp_path}/told, ""so""'
    assert mounted == f'type=bind,"source={directory}","target={directory}",readonly'
    assert scratch == f'type=bind,"source={tmp_path}/scratch","target={tmp_path}/scratch"'
    assert (tmp_path / "scratch").is_dir()
    assert users == f'type=bind,"source={tmp_path}/passwd","target=/etc/passwd",readonly'
    assert f":{ME}:" in (tmp_path / "passwd").read_text()


def test_its_first_process_is_that_of_the_engine_where_it_is_seen(
    guardian: FileGuardian, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, driver = (cast(psutil.Process, Process((), {}, pid, 1, tmp_path, tmp_path)) for pid in (1001, 4242))
    assert spawned(guardian, tmp_path).pid == 1001, "an engine elsewhere has ids of its own"
    guardian.started.clear()
    monkeypatch.setattr(ManagedProcess, "tree", lambda _: [client, driver])
    process = spawned(guardian, tmp_path)
    assert process.pid == 4242
    assert process.tree() == [driver], "the docker command is none of the program's"


def test_its_end_is_the_containers(guardian: FileGuardian, engine: Engine, tmp_path: Path) -> None:
    process = spawned(guardian, tmp_path)
    assert process.exit_code is None
    engine.ends("false 137 true")
    assert process.exit_code == 137
    assert process.went_over_memory
    assert "it went over its memory limit" in process.last_words(1)


def test_one_that_could_not_be_made_has_ended(guardian: FileGuardian, engine: Engine, tmp_path: Path) -> None:
    engine.pid, engine.state, guardian.exit_code = 0, "false 125 false", 125
    assert spawned(guardian, tmp_path).exit_code == 125


def test_signals_go_to_the_container(guardian: FileGuardian, engine: Engine, tmp_path: Path) -> None:
    spawned(guardian, tmp_path).signal(SIGTERM)
    assert engine.commands == [["kill", "--signal", "SIGTERM"]]


@pytest.mark.parametrize(("ended", "exit_code"), [("", 137), ("false 1 false", 1)], ids=["it runs", "it has ended"])
def test_killed_it_is_removed_and_its_end_is_known(
    guardian: FileGuardian, engine: Engine, tmp_path: Path, ended: str, exit_code: int
) -> None:
    process = spawned(guardian, tmp_path)
    if ended:
        engine.ends(ended)
    process.kill_tree()
    assert engine.commands == [["kill"], ["rm", "--force"]]
    assert process.exit_code == exit_code


def test_the_consumer_runs_there_as_well(tmp_path: Path) -> None:
    limits, scratch = Container.model_validate({"memory": "1GiB"}), tmp_path / "scratch"
    configured = ConsumerProgram().configure(NOWHERE, {})
    launch = configured.launch(program_context(tmp_path, image=IMAGE, limits=limits, scratch=scratch))
    assert launch.container == EngineContainer(IMAGE, 1 << 30, tmp_path, scratch)
    assert launch.argv[0] == "python3"


class TestSpark:
    """The pipeline where the stack has an image."""

    LIMITS = Container.model_validate({"memory": "1GiB"})

    def test_it_is_the_images(self, tmp_path: Path) -> None:
        context = program_context(tmp_path, image=IMAGE, limits=self.LIMITS, scratch=tmp_path / "scratch")
        launch = SPARK.configure(NOWHERE, {}).launch(context)
        assert launch.container == EngineContainer(IMAGE, 1 << 30, tmp_path, tmp_path / "scratch")
        assert launch.argv[0] == "python3"
        assert sys.executable not in json.dumps([*launch.argv, *launch.environment.values()])
        assert (launch.environment["JAVA_HOME"], launch.environment["SPARK_HOME"]) == ("/opt/java", "/opt/spark")
        settings = (tmp_path / "spark-conf" / "spark-defaults.conf").read_text()
        assert "spark.driver.extraClassPath /opt/jars/*" in settings
        assert "AOT" not in settings, "this machine's class cache is for this machine's Java"
        assert f"-Djava.io.tmpdir={tmp_path / 'scratch'}" in settings

    @pytest.mark.parametrize("limits", [None, Container.model_validate({"disk": "1GiB"})])
    def test_without_a_limit_of_memory_it_runs_here(self, tmp_path: Path, limits: Container | None) -> None:
        context = program_context(tmp_path, image=IMAGE, limits=limits, scratch=tmp_path / "scratch")
        launch = SPARK.configure(NOWHERE, {}).launch(context)
        assert (launch.container, launch.argv[0]) == (None, sys.executable)

    def test_no_debugger_is_in_the_image(self, tmp_path: Path) -> None:
        scratch, debugger = tmp_path / "scratch", Debugger("driver", 5678)
        context = program_context(tmp_path, image=IMAGE, limits=self.LIMITS, scratch=scratch, debugger=debugger)
        with pytest.raises(UsageError, match="no debugger can be attached"):
            SPARK.configure(NOWHERE, {}).launch(context)
