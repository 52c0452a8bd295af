"""The public images that containers of a stack run, pinned; `docker-compose.yml` names the same ones.

The mock API's image is not among them: it is built from this repository.
"""

from devkit.jvm import jars
from devkit.jvm.pins import read_pins

_BROKER = "org.apache.kafka:kafka_2.13:"

# The last release that was published as an image.
MINIO = "minio/minio:RELEASE.2025-09-07T16-13-09Z"
PYTHON = "python:3.11-slim"
"""What the Dockerfile builds on."""


def kafka_image() -> str:
    """The image of the broker whose jars the embedded stack runs."""
    version = next(
        pin.coordinate.removeprefix(_BROKER) for pin in read_pins(jars.KAFKA) if pin.coordinate.startswith(_BROKER)
    )
    return f"apache/kafka:{version}"
