"""`docker-compose.yml`, as far as the kit has to know it, and the public images that it and testcontainers run."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ByteSize
from ruamel.yaml import YAML

from devkit.errors import UsageError
from devkit.jvm import jars
from devkit.jvm.pins import read_pins

REPOSITORY = Path(__file__).parents[2]
KAFKA, OBJECT_STORE, MOCK_API = "kafka", "minio", "mock-api"
SPARK = "spark-master"
"""One of several that have the image in which Spark and the pipeline are."""
SERVICES = (KAFKA, OBJECT_STORE, MOCK_API)
# The last release that was published as an image.
MINIO = "minio/minio:RELEASE.2025-09-07T16-13-09Z"
PYTHON = "python:3.11-slim"
"""The base of the Dockerfile."""
_BROKER = "org.apache.kafka:kafka_2.13:"


def kafka_image() -> str:
    """The image of the broker whose jars the embedded stack runs."""
    version = next(
        pin.coordinate.removeprefix(_BROKER) for pin in read_pins(jars.KAFKA) if pin.coordinate.startswith(_BROKER)
    )
    return f"apache/kafka:{version}"


def _in_powers_of_1024(size: object) -> object:
    """Compose writes them with one letter."""
    return f"{size.removesuffix('b')}iB" if isinstance(size, str) else size


class Service(BaseModel):
    """One service of the file."""

    image: str
    mem_limit: Annotated[ByteSize, BeforeValidator(_in_powers_of_1024)] | None = None
    build: object = None


class ComposeFile(BaseModel):
    """The services that are in the file."""

    services: dict[str, Service]

    def memory_bytes(self, names: Collection[str]) -> int:
        """The sum of the memory limits of these services."""
        return sum(self.services[name].mem_limit or 0 for name in names)

    def pulled_images(self, names: Collection[str]) -> tuple[str, ...]:
        """The images of these services that come from a registry."""
        return tuple(self.services[name].image for name in names if self.services[name].build is None)


def compose_path(repository: Path = REPOSITORY) -> Path:
    """Where the file is. Raises UsageError for an installed kit, which does not have it."""
    path = repository / "docker-compose.yml"
    if not path.is_file():
        raise UsageError(
            f"there is no {path}, and the compose stack is made from it",
            hint="run the kit from a checkout, or use `--stack testcontainers`, `external` or `embedded`",
        )
    return path


def read_compose(path: Path) -> ComposeFile:
    """Raises pydantic's ValidationError for a file that lacks what the kit reads of it."""
    return ComposeFile.model_validate(YAML(typ="safe").load(path))
