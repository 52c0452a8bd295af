"""An image, and the engine that has it."""

from dataclasses import dataclass

from devkit.docker.access import DockerAccess


@dataclass(frozen=True)
class EngineImage:
    """`name` as the engine knows it."""

    access: DockerAccess
    name: str
