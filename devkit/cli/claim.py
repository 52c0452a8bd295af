"""`devkit claim get`: the payload of a claim check, verified."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devkit.cli.chosen_stack import KAFKA, OBJECT_STORE, address_of, run_id_option, running_stack
from devkit.errors import UsageError
from devkit.guardian.run_state import LOGS
from located_config.count import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devkit.observe.audit.arrivals import Arrival


@click.group()
def claim() -> None:
    """Fetch payloads that were too large for a record (claim checks)."""


@claim.command()
@click.argument("reference", metavar="KEY|EVENT")
@click.option(
    "-o",
    "--out",
    "out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the payload to. Default: standard output.",
)
@click.option("--s3-endpoint", metavar="URL", help="Address of the object store. Default: that of the stack.")
@click.option("--kafka", metavar="HOST:PORT", help="Broker to look an event up at. Default: that of the stack.")
@click.option("--bucket", help="Bucket of the claim checks. Default: that of the pipeline.")
@click.option("--topic", help="Output topic to look an event up in. Default: that of the pipeline.")
@run_id_option
def get(
    reference: str,
    out: Path | None,
    s3_endpoint: str | None,
    kafka: str | None,
    bucket: str | None,
    topic: str | None,
    run_id: str | None,
) -> None:
    """Fetch a payload and verify its length and SHA-256.

    KEY is the object's, or the SHA-256 it ends with. EVENT is TOPIC/PARTITION/OFFSET of the record or of its source
    event, or the record's meta.id. Credentials of a store that is not the kit's: DEVKIT_S3_ACCESS_KEY and
    DEVKIT_S3_SECRET_KEY.
    """
    from devkit.debug.claim_lookup import ClaimPlace, find_claim
    from devkit.debug.pipeline_place import find_place
    from devkit.observe.audit.arrivals import read_topic
    from devkit.stack.parts.object_store import ACCESS_KEY, SECRET_KEY, s3_client
    from pipeline.config.pipeline_config import ClaimCheck, Sink

    if s3_endpoint is None:
        run = running_stack(run_id)
        config = find_place(Path(run.addresses[LOGS]) if LOGS in run.addresses else None).config
        endpoint, bootstrap = address_of(run, OBJECT_STORE), kafka or address_of(run, KAFKA)
        checks, output = config.claim_check, config.sink.topic
    else:
        endpoint, bootstrap = s3_endpoint, kafka or ""
        checks, output = ClaimCheck(), str(Sink.model_fields["topic"].default)

    def records() -> "Iterator[Arrival]":
        if not bootstrap:
            raise UsageError(f"{reference} is an event, and no broker is named", hint="add --kafka HOST:PORT")
        return read_topic(bootstrap, topic or output)

    try:
        client = s3_client(
            endpoint,
            access_key=os.environ.get("DEVKIT_S3_ACCESS_KEY", ACCESS_KEY),
            secret_key=os.environ.get("DEVKIT_S3_SECRET_KEY", SECRET_KEY),
        )
    except ValueError as error:
        raise UsageError(f"the store at {endpoint}: {error}", hint="an endpoint is written http://host:port") from error
    found = find_claim(reference, client, ClaimPlace(bucket or checks.bucket, checks.prefix), records)
    if out is None:
        click.echo(found.payload, nl=False)
    else:
        out.write_bytes(found.payload)
    click.echo(
        f"{found.where}: {counted(len(found.payload), 'byte')}, SHA-256 {found.sha256}, as the record says", err=True
    )
