"""A pipeline of somebody's own in place of the kit's: its command, and what it is told in its environment.

    DEVKIT_KAFKA_BOOTSTRAP, DEVKIT_SOURCE_TOPIC, DEVKIT_OUTPUT_TOPIC, DEVKIT_ERROR_TOPIC, DEVKIT_DEFERRED_TOPIC,
    DEVKIT_MOCK_ENDPOINT, DEVKIT_S3_ENDPOINT, DEVKIT_CHECKPOINT, DEVKIT_CLAIM_BUCKET, DEVKIT_CLAIM_PREFIX,
    DEVKIT_ARM, DEVKIT_PIPELINE_CONFIG, AWS_…; and DEVKIT_START, which the supervisor sets at each start

`docs/own-pipeline.md` says what each is, and what the pipeline may show of itself.
"""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devkit.errors import UsageError
from devkit.programs.launch import Addition, Launch
from devkit.scenario.model import ArmName
from pipeline.config import PipelineConfig

START = "DEVKIT_START"
_KITS_OWN = ("AWS_", "DEVKIT_")
_PROXIES = frozenset({"ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY"})


@dataclass(frozen=True)
class OwnPipeline:
    """The command line, taken apart, and the directory in which it is to run."""

    argv: tuple[str, ...]
    directory: Path

    @property
    def command(self) -> tuple[str, ...]:
        """What is started: the run's processes have a directory of their own, and this one is at home elsewhere."""
        return ("sh", "-c", 'cd -- "$0" && exec "$@"', str(self.directory), *self.argv)

    @classmethod
    def parse(cls, command: str) -> "OwnPipeline":
        """The command as a shell would take it apart. Raises UsageError when it names nothing that can be run."""
        try:
            argv = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"--pipeline {command!r}: {error}", hint="quote it as in a shell") from error
        if not argv:
            raise UsageError("--pipeline is empty", hint="--pipeline 'python my_pipeline.py'")
        if shutil.which(argv[0]) is None:
            raise UsageError(
                f"--pipeline: {argv[0]!r} is no program that can be run",
                hint="its path from here, or a name on PATH; for a shell's own words, --pipeline \"sh -c '…'\"",
            )
        return cls(argv, Path.cwd())


def own_launch(own: OwnPipeline, environment: Mapping[str, str]) -> Launch:
    """How the command is started; it is told in its environment whether there is a checkpoint to go on from."""
    return Launch(
        own.command,
        environment,
        first=Addition(environment={START: "new"}),
        again=Addition(environment={START: "checkpoint"}),
    )


def own_environment(
    config: PipelineConfig, config_file: Path, arm: ArmName, credentials: Mapping[str, str], of_user: Mapping[str, str]
) -> dict[str, str]:
    """What the pipeline gets besides the run's own variables.

    The user's Java, Spark and Python settings reach it, as it may need them; proxies do not, as all is on loopback.
    """
    users = {
        name: value
        for name, value in of_user.items()
        if name.upper() not in _PROXIES and not name.startswith(_KITS_OWN)
    }
    return (
        users
        | {"PYTHONSAFEPATH": of_user.get("PYTHONSAFEPATH", "")}
        | dict(credentials)
        | {
            "DEVKIT_KAFKA_BOOTSTRAP": config.source.bootstrap_servers,
            "DEVKIT_SOURCE_TOPIC": config.source.topic,
            "DEVKIT_OUTPUT_TOPIC": config.sink.topic,
            "DEVKIT_ERROR_TOPIC": config.sink.error_topic,
            "DEVKIT_DEFERRED_TOPIC": config.deferral.topic,
            "DEVKIT_MOCK_ENDPOINT": config.mediawiki.endpoint,
            "DEVKIT_S3_ENDPOINT": config.claim_check.endpoint or "",
            "DEVKIT_CHECKPOINT": config.checkpoint,
            "DEVKIT_CLAIM_BUCKET": config.claim_check.bucket,
            "DEVKIT_CLAIM_PREFIX": config.claim_check.prefix,
            "DEVKIT_ARM": arm,
            "DEVKIT_PIPELINE_CONFIG": str(config_file.absolute()),
        }
    )
