"""Leases of runs on external stacks: written when a run begins, deleted when its topics and objects are removed.

    write ─▶ … ─▶ release: topics and objects are removed, the lease too
              └─ killed: the lease stays ─▶ clean up: objects are removed, topics that are still there are named

Objects lie below the run's id, so they are the run's for ever. Topics have the names that a scenario gives them, and
another client may have begun to use one that remained; so only a run that is just ending removes its own.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.errors import PartError, StackError
from devkit.guardian.run_state import known_runs, lease_path, lease_paths
from devkit.stack.addresses import Addresses, with_credentials
from devkit.stack.parts.object_store import s3_client
from devkit.stack.parts.triple_store import TripleStore
from devkit.stack.stack import BUCKETS
from devkit.stack.topics import existing_topics, remove_topics


class ExternalLease(BaseModel):
    """A run on an external stack. `topics` are those that it makes, of names that are not its own. `cleared` is the
    update URL of the triple store that it empties, None where it uses none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    addresses: Addresses
    topics: tuple[str, ...] = ()
    cleared: str | None = None

    @property
    def prefix(self) -> str:
        """All its objects lie below."""
        return f"{self.run_id}/"

    def write(self) -> None:
        """Without credentials."""
        path = lease_path(self.run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(indent=2))

    def release(self) -> None:
        """Remove the run's topics, objects and triples. Raises StackError that says what remains."""
        try:
            if self.cleared is not None:
                login = self.addresses.triple_store_login()
                TripleStore(self.cleared, self.cleared, self.cleared, self.cleared, login).clear()
            self._remove_objects()
            remove_topics(self.addresses.kafka, self.topics)
        except StackError as error:
            raise StackError(
                f"not everything of the run could be removed from the external stack: {error}",
                hint=f"remaining are topics {', '.join(self.topics)}, or objects below {self.prefix} in "
                f"{', '.join(BUCKETS)}; `devkit heal` tries again",
            ) from error
        self._forget()

    def clean_up(self) -> tuple[str, ...]:
        """Remove the objects of a run that is gone; the topics that it made and that are there. Raises StackError."""
        self._remove_objects()
        remaining = existing_topics(self.addresses.kafka, self.topics)
        self._forget()
        return remaining

    def _remove_objects(self) -> None:
        addresses = self.addresses
        client = s3_client(
            addresses.s3_endpoint,
            access_key=addresses.access_key,
            secret_key=addresses.secret_key,
            region=addresses.s3_region,
        )
        try:
            for bucket in BUCKETS:
                for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=self.prefix):
                    for entry in page.get("Contents", ()):
                        client.delete_object(Bucket=bucket, Key=entry["Key"])
        except (BotoCoreError, ClientError) as error:
            raise PartError(f"the object store at {addresses.s3_endpoint}: {error}", "object-store") from error

    def _forget(self) -> None:
        lease_path(self.run_id).unlink(missing_ok=True)


@dataclass(frozen=True)
class ReleasedLease:
    """The result for a lease whose run is gone: topics that are `remaining`, or `why` nothing could be done."""

    lease: ExternalLease
    remaining: tuple[str, ...] = ()
    why: str = ""


def lapsed(environment: Mapping[str, str] = os.environ) -> list[ExternalLease]:
    """The leases of runs that are gone and could not release them; credentials come from the environment."""
    alive = {run.run_id for run in known_runs() if run.guardian_is_alive()}
    leases = (_read(note, environment) for note in lease_paths())
    return [lease for lease in leases if lease and lease.run_id not in alive]


def release_lapsed() -> list[ReleasedLease]:
    """Clean up after all runs that are gone."""
    return [_released(lease, lease.clean_up) for lease in lapsed()]


def release_ended(run_id: str) -> list[ReleasedLease]:
    """Release in the place of a run that was ended from outside; nothing when it was on no external stack."""
    return [_released(lease, lease.release) for lease in lapsed() if lease.run_id == run_id]


def _released(lease: ExternalLease, release: Callable[[], tuple[str, ...] | None]) -> ReleasedLease:
    try:
        return ReleasedLease(lease, release() or ())
    except StackError as error:
        return ReleasedLease(lease, why=f"{error}")


def _read(note: Path, environment: Mapping[str, str]) -> ExternalLease | None:
    with contextlib.suppress(OSError, ValidationError):
        lease = ExternalLease.model_validate_json(note.read_bytes())
        return lease.model_copy(update={"addresses": with_credentials(lease.addresses, environment)})
    return None
