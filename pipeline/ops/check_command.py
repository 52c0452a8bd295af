"""`python -m pipeline check FILE`: exit 0 when `run` would accept the configuration, 2 with every reason when not.

It starts nothing and connects to nothing. A file that the configuration names may exist only where the job runs, so
one that is missing here is a warning.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from located_config.redaction import redacted_text
from pipeline.config.config_file import load_config
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import require_safe, unsafe_settings
from pipeline.driver.spark_conf import given_settings, require_of_spark, require_protocol
from pipeline.driver.start_warnings import start_warnings
from pipeline.errors import RefusedError
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.kafka.cluster import python_client, source_brokers
from pipeline.memory.budget import budget
from pipeline.metrics.registry import names_of
from pipeline.ops.exit_codes import exit_codes
from pipeline.ops.options import SizeParam


@click.command(short_help="Check a job's configuration without a start.")
@click.argument("config_file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--memory-limit",
    "limit",
    type=SizeParam(),
    help="Check that the configuration fits into this limit, as given to `run`. Default: no limit.",
)
@click.option(
    "--slots",
    type=click.IntRange(min=1),
    help="Number of tasks at once, as given to `run`. Default: Spark's own setting.",
)
@click.option("--allow-unsafe", is_flag=True, help="Accept unsafe settings, as given to `run`. Default: refuse.")
def check(config_file: Path, limit: int | None, slots: int | None, *, allow_unsafe: bool) -> None:
    """Check the configuration in FILE as `run` does, without Spark, brokers or network.

    Spark's settings are those that `run` would use: `spark-defaults.conf` and the environment.
    """
    with exit_codes():
        config = load_config(config_file)
    refusals = list(_refusals(config, limit, slots, allow_unsafe=allow_unsafe))
    for refusal in refusals:
        click.echo(refusal.render(), err=True)
    for warning in _warnings(config):
        click.echo(f"warning: {redacted_text(warning)}", err=True)
    if refusals:
        sys.exit(RefusedError.exit_code)
    source, sink = config.source, config.sink
    topics = ", ".join(source.all_topics)
    click.echo(
        f"{config_file}: job {config.job}, from {topics} at {source.bootstrap_servers} to {sink.topic} at "
        f"{sink.bootstrap_servers}"
    )
    unsafe = unsafe_settings(config)
    click.echo(f"the configuration is valid{', with --allow-unsafe: ' if unsafe else ''}{', '.join(unsafe)}")


def _refusals(
    config: PipelineConfig, limit: int | None, slots: int | None, *, allow_unsafe: bool
) -> Iterator[RefusedError]:
    """Each reason for which `run` would not begin with a configuration that is valid by itself."""
    checks: list[Callable[[], object]] = []
    if not allow_unsafe:
        checks.append(partial(require_safe, unsafe_settings(config)))
    checks += [partial(_check_spark, config, limit, slots), partial(names_of, config.metrics)]
    missing = {key for key, _ in _missing_files(config)}
    if "mediawiki.wikis_file" not in missing:
        checks.append(partial(WikiHosts, config.mediawiki))
    if not any(key.startswith("kafka.") for key in missing):
        checks.append(partial(_check_kafka, config))
    for run_check in checks:
        try:
            run_check()
        except RefusedError as refusal:
            yield refusal


def _check_spark(config: PipelineConfig, limit: int | None, slots: int | None) -> None:
    settings = given_settings()
    require_of_spark(settings)
    require_protocol(settings)
    budget(config, settings, limit=limit, slots=slots)


def _check_kafka(config: PipelineConfig) -> None:
    from kafka import KafkaAdminClient  # only its defaults; nothing is connected

    python_client(source_brokers(config), KafkaAdminClient)


def _warnings(config: PipelineConfig) -> Iterator[str]:
    for warning in start_warnings(config):
        yield warning.hint
    for key, path in _missing_files(config):
        yield f"{key}: {path} does not exist on this machine, so its content is not checked"


def _missing_files(config: PipelineConfig) -> Iterator[tuple[str, str]]:
    """The files that the configuration names and that are not on this machine, by key."""
    kafka = config.kafka
    files = {
        "mediawiki.wikis_file": config.mediawiki.wikis_file,
        "kafka.password_file": kafka.password_file,
        "kafka.ca": kafka.ca,
        "kafka.certificate": kafka.certificate,
    }
    for key, path in files.items():
        if path is not None and not Path(path).exists():
            yield key, path
