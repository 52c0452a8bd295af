"""The environment of a command.

    DEVKIT_KAFKA_BOOTSTRAP, DEVKIT_SOURCE_TOPIC, DEVKIT_SOURCE_TOPICS, DEVKIT_OUTPUT_TOPIC, DEVKIT_ERROR_TOPIC,
    DEVKIT_DEFERRED_TOPIC,
    DEVKIT_MOCK_ENDPOINT, DEVKIT_S3_ENDPOINT, DEVKIT_CHECKPOINT, DEVKIT_CLAIM_BUCKET, DEVKIT_CLAIM_PREFIX,
    DEVKIT_ARM, DEVKIT_PIPELINE_CONFIG, AWS_…; and DEVKIT_START, which differs from start to start

`docs/own-pipeline.md` says what each is, and what the command may show of itself.
"""

from collections.abc import Mapping
from pathlib import Path

from pipeline.config.pipeline_config import PipelineConfig

START = "DEVKIT_START"
_KITS_OWN = ("AWS_", "DEVKIT_")
_PROXIES = frozenset({"ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY"})


def command_environment(
    config: PipelineConfig,
    config_file: Path,
    arm: str,
    credentials: Mapping[str, str],
    user_environment: Mapping[str, str],
) -> dict[str, str]:
    """The variables of the command besides the run's own.

    The user's Java, Spark and Python settings reach it, as it may need them; proxies do not, as all is on loopback.
    """
    inherited = {
        name: value
        for name, value in user_environment.items()
        if name.upper() not in _PROXIES and not name.startswith(_KITS_OWN)
    }
    return (
        inherited
        | {"PYTHONSAFEPATH": user_environment.get("PYTHONSAFEPATH", "")}
        | dict(credentials)
        | {
            "DEVKIT_KAFKA_BOOTSTRAP": config.source.bootstrap_servers,
            "DEVKIT_SOURCE_TOPIC": config.source.all_topics[0],
            "DEVKIT_SOURCE_TOPICS": ",".join(config.source.all_topics),
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
