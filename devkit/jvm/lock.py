"""Writes ``jars.lock`` again: ``python -m devkit.jvm.lock`` (a maintainer's command, needs the network).

Resolves what the two sets start from with jgo, a Maven resolver in Python, then fetches and hashes each jar.
The set ``spark`` is what a Spark application needs beyond pyspark's own jars, so an artifact that pyspark ships in
whatever version is left out: two versions of a class on one classpath is what the lock is there to prevent.
"""

import hashlib
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark
from jgo.maven import Dependency, MavenContext

from devkit.jvm.download import repository_url
from devkit.jvm.jars import KAFKA, SPARK
from devkit.jvm.pins import LOCK, Pin

_HEADER = """\
# Jars by Maven coordinate, with size in bytes and SHA-256. Written by `python -m devkit.jvm.lock`; do not edit.
"""


@dataclass(frozen=True)
class Root:
    """Where a resolution starts; ``alone`` takes the jar without what it depends on."""

    coordinate: str
    without: tuple[str, ...] = ()
    alone: bool = False


_AWS_SDK = "2.35.4"
ROOTS: dict[str, tuple[Root, ...]] = {
    KAFKA: (
        Root("org.apache.kafka:kafka_2.13:4.3.1"),
        Root("org.apache.kafka:kafka-tools:4.3.1"),
        # Kafka logs through slf4j and leaves the choice of what is behind it to its distribution
        Root("org.apache.logging.log4j:log4j-slf4j-impl:2.25.4", alone=True),
    ),
    SPARK: (
        # pyspark ships all these depend on; token-provider is delegation-token plumbing, unchanged since 4.0.0, and
        # not every mirror carries its 4.1 and 4.2
        Root("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0", alone=True),
        Root("org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0", alone=True),
        Root("org.apache.kafka:kafka-clients:3.9.2", alone=True),
        Root("org.apache.commons:commons-pool2:2.13.1", alone=True),
        # S3A with the modules of the AWS SDK it calls instead of the bundle of 650 MB
        Root("org.apache.hadoop:hadoop-aws:3.5.0", without=("software.amazon.awssdk:bundle",)),
        Root(f"software.amazon.awssdk:s3:{_AWS_SDK}"),
        Root(f"software.amazon.awssdk:s3-transfer-manager:{_AWS_SDK}"),
        Root(f"software.amazon.awssdk:sts:{_AWS_SDK}"),
        Root(f"software.amazon.awssdk:apache-client:{_AWS_SDK}"),
        Root(f"software.amazon.awssdk:netty-nio-client:{_AWS_SDK}"),
    ),
}


def resolve(context: MavenContext, roots: Sequence[Root]) -> list[Pin]:
    """All jars that ``roots`` need at run time, roots included, by coordinate."""
    alone = [_dependency(context, root) for root in roots if root.alone]
    joint = [_dependency(context, root) for root in roots if not root.alone]
    resolved = list(alone)
    if joint:
        top, below = context.resolver.get_dependency_list(joint)
        resolved += [node.dep for node in (*top.children, *below)]
    return sorted(
        (_pin(dependency) for dependency in resolved if dependency.scope in {"compile", "runtime", None}),
        key=lambda pin: pin.coordinate,
    )


def _dependency(context: MavenContext, root: Root) -> Dependency:
    excluded = [context.project(*name.split(":")) for name in root.without]
    dependency = context.create_dependency(root.coordinate, exclusions=excluded)
    # jgo would import each root as a bill of materials otherwise, and the AWS SDK's cannot be read so
    dependency.raw = True
    return dependency


def _pin(dependency: Dependency) -> Pin:
    content = Path(dependency.artifact.resolve()).read_bytes()
    coordinate = f"{dependency.groupId}:{dependency.artifactId}:{dependency.version}"
    return Pin(coordinate=coordinate, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def beyond(pins: Iterable[Pin], shipped: Iterable[str]) -> list[Pin]:
    """The ``pins`` whose artifact is in no version among the file names ``shipped``."""
    names = list(shipped)

    def is_shipped(pin: Pin) -> bool:
        artifact = re.escape(pin.coordinate.split(":")[1])
        return any(re.match(rf"{artifact}-\d", name) for name in names)

    return [pin for pin in pins if not is_shipped(pin)]


def render(sets: dict[str, list[Pin]]) -> str:
    """The text of the lock."""
    lines = [_HEADER]
    for name, pins in sets.items():
        lines.append(f"[{name}]")
        lines += [f'"{pin.coordinate}" = {{ size = {pin.size}, sha256 = "{pin.sha256}" }}' for pin in pins]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Resolve both sets from an empty Maven cache and write the lock."""
    shipped = [jar.name for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")]
    with tempfile.TemporaryDirectory(prefix="devkit-lock-") as scratch:
        context = MavenContext(
            repo_cache=Path(scratch), local_repos=[], remote_repos={"central": repository_url()}, timeout=60
        )
        sets = {KAFKA: resolve(context, ROOTS[KAFKA]), SPARK: beyond(resolve(context, ROOTS[SPARK]), shipped)}
    LOCK.write_text(render(sets), encoding="utf-8")
    for name, pins in sets.items():
        sys.stdout.write(f"{name}: {len(pins)} jars, {sum(pin.size for pin in pins) / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
