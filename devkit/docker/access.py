"""How a run reaches its Docker engine; part of the run's state, so that another process can clean up after it."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from devkit.errors import SetupError

RUN_LABEL = "enrichment-devkit.run"
"""Every container, network and volume of a run carries this label, with the run's id."""

_OURS = "DOCKER_"


class DockerAccess(BaseModel):
    """The docker command's path, and the DOCKER_* variables that say which engine it talks to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str
    environment: dict[str, str] = {}

    def environ(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """`base` (this process's environment by default) with this engine in place of any other."""
        variables = os.environ if base is None else base
        return {name: value for name, value in variables.items() if not name.startswith(_OURS)} | self.environment


@dataclass(frozen=True)
class EngineImage:
    """An image, by its `name` in the engine that has it."""

    access: DockerAccess
    name: str


def find_docker(environment: Mapping[str, str] | None = None) -> DockerAccess:
    """The command on PATH, for the engine of the environment. Raises SetupError when there is none."""
    environment = os.environ if environment is None else environment
    command = shutil.which("docker", path=environment.get("PATH"))
    if command is None:
        raise SetupError(
            "there is no `docker` command on PATH",
            hint="install Docker Engine or Docker Desktop, or use `--stack embedded`, which needs neither",
        )
    return access_by(command, environment)


def access_by(command: str, environment: Mapping[str, str] | None = None) -> DockerAccess:
    """This command, for the engine of the environment."""
    environment = os.environ if environment is None else environment
    ours = {name: value for name, value in environment.items() if name.startswith(_OURS)}
    return DockerAccess(command=command, environment=ours)
