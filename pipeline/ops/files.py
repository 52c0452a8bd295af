"""The files of a checkpoint, read and written without Spark: on a local path, or at `s3a://` through boto3.

Names are relative to the checkpoint, with slashes. Nothing is ever overwritten: Spark's logs are never changed either,
and a driver that runs finds its next file taken and fails, instead of going on with other offsets than it thinks.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.errors import PipelineError, RefusedError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_MISSING = {"NoSuchKey", "NoSuchBucket", "404"}
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}


class ReadableFiles(Protocol):
    """`place` is for messages. Reading raises PipelineError for what the place's own software refuses."""

    place: str

    def entries(self) -> set[str]:
        """What stands at its top, directories too."""

    def names(self, directory: str = "") -> Collection[str]:
        """All files below a directory; none when the directory is not there."""

    def read(self, name: str) -> bytes:
        """Raises PipelineError when it cannot be read, also when it is not there."""


class CheckpointFiles(ReadableFiles, Protocol):
    """Those that an operator's command may write to. Writing raises PipelineError too."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The path in parts: that of a nested place begins with the parts of its parent."""

    def names(self, directory: str = "") -> dict[str, datetime]:
        """All files below a directory, and when each was written; none when the directory is not there."""

    def write(self, name: str, content: bytes) -> None:
        """Add a file. Raises RefusedError when there is one of that name."""


def open_files(place: str, store: ClaimCheck, *, endpoint: str | None = None) -> CheckpointFiles:
    """The files below a checkpoint's place, which may hold none yet. Raises RefusedError for a place of another kind.

    An object store is reached at `endpoint`, else at that of the environment, else where claim checks go.
    """
    try:
        parts = urlsplit(place)
    except ValueError as error:
        raise RefusedError(
            f"checkpoint {place} is no place: {error}", hint="write a path, or s3a://bucket/path"
        ) from error
    if parts.scheme in ("s3a", "s3"):
        in_environment = any(name in os.environ for name in _ENDPOINTS)
        reached = endpoint or (None if in_environment else store.endpoint)
        return ObjectFiles(place.rstrip("/"), parts.netloc, parts.path.strip("/"), reached, store.region)
    if parts.scheme == "file":
        return LocalFiles(place, Path(unquote(parts.path)))
    if parts.scheme:
        raise RefusedError(
            f"checkpoint {place}: {parts.scheme}:// cannot be read from here",
            hint="copy it to a local path, or to an object store (s3a://bucket/path)",
        )
    return LocalFiles(place, Path(place))


class LocalFiles:
    """Below a directory. Hadoop's checksums, `.NAME.crc`, are neither listed nor copied: it reads without them."""

    def __init__(self, place: str, root: Path) -> None:
        self.place = place
        self._root = root

    @property
    def parts(self) -> tuple[str, ...]:
        """Of the path without symbolic links."""
        return self._root.resolve().parts

    def entries(self) -> set[str]:
        """Empty where the directory is not there. Raises PipelineError when it cannot be listed."""
        try:
            return {path.name for path in self._root.iterdir()} if self._root.exists() else set()
        except OSError as error:
            raise PipelineError(f"checkpoint {self.place} cannot be listed: {error}") from error

    def names(self, directory: str = "") -> dict[str, datetime]:
        """Without hidden files, sorted. Raises PipelineError when a directory cannot be listed."""
        top = self._root / directory
        try:
            return {
                path.relative_to(self._root).as_posix(): datetime.fromtimestamp(path.stat().st_mtime, UTC)
                for path in sorted(top.rglob("*"))
                if path.is_file() and not path.name.startswith(".")
            }
        except OSError as error:
            raise PipelineError(f"checkpoint {self.place} cannot be listed: {error}") from error

    def read(self, name: str) -> bytes:
        """Raises PipelineError, which names checkpoint, file and the system's reason."""
        try:
            return (self._root / name).read_bytes()
        except OSError as error:
            raise PipelineError(f"checkpoint {self.place}: {name} cannot be read: {error.strerror}") from error

    def write(self, name: str, content: bytes) -> None:
        """Atomic: whole or not at all. Raises RefusedError when there is such a file, PipelineError for all else."""
        path = self._root / name
        # Under its own name only when it is whole: a driver that looks meanwhile must not read half of it.
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                # Of a file that was deleted: Hadoop would check the new one by it.
                path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
            temporary.write_bytes(content)
            try:
                os.link(temporary, path)
            finally:
                temporary.unlink()
        except FileExistsError:
            raise _taken(self.place, name) from None
        except OSError as error:
            raise PipelineError(f"checkpoint {self.place}: {name} cannot be written: {error.strerror}") from error


class ObjectFiles:
    """Below a prefix of a bucket. Credentials come from the environment, as for any S3 client."""

    def __init__(self, place: str, bucket: str, prefix: str, endpoint: str | None, region: str) -> None:
        import boto3  # slow to import, and many checkpoints are not in a store
        from botocore.config import Config

        self.place = place
        self._bucket = bucket
        self._root = prefix
        with usable_store(f"checkpoint {place}"):
            self._client: S3Client = boto3.client(
                "s3",
                endpoint_url=endpoint,
                region_name=region,
                config=Config(
                    s3={"addressing_style": "path"},
                    connect_timeout=5,
                    read_timeout=30,
                    retries={"mode": "standard", "total_max_attempts": 3},
                ),
            )

    @property
    def parts(self) -> tuple[str, ...]:
        """`s3`, the bucket, and the segments of the prefix."""
        return ("s3", self._bucket, *filter(None, self._root.split("/")))

    def entries(self) -> set[str]:
        """Without the marker object of the directory itself. Raises PipelineError when the store refuses."""
        from botocore.exceptions import BotoCoreError, ClientError

        top = f"{self._root}/".lstrip("/")
        try:
            pages = list(
                self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=top, Delimiter="/")
            )
        except (BotoCoreError, ClientError) as error:
            raise self._failed("cannot be listed", error) from error
        keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        keys += [item["Prefix"] for page in pages for item in page.get("CommonPrefixes", [])]
        # An object named like the directory itself marks it.
        return {name for key in keys if (name := key.removeprefix(top).rstrip("/"))}

    def names(self, directory: str = "") -> dict[str, datetime]:
        """Times are the store's. Raises RefusedError when there is no such bucket, else PipelineError."""
        from botocore.exceptions import BotoCoreError, ClientError

        top = f"{self._key(directory)}/".lstrip("/")
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=top)
            return {
                item["Key"].removeprefix(f"{self._root}/"): item["LastModified"]
                for page in pages
                for item in page.get("Contents", [])
                if not item["Key"].endswith("/")
            }
        except ClientError as error:
            if _code(error) in _MISSING:
                raise RefusedError(f"checkpoint {self.place}: there is no bucket {self._bucket}") from error
            raise self._failed("cannot be listed", error) from error
        except BotoCoreError as error:
            raise self._failed("cannot be listed", error) from error

    def read(self, name: str) -> bytes:
        """Raises PipelineError, which names checkpoint, object and the store's reason."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return self._client.get_object(Bucket=self._bucket, Key=self._key(name))["Body"].read()
        except (BotoCoreError, ClientError) as error:
            raise self._failed(f"{name} cannot be read", error) from error

    def write(self, name: str, content: bytes) -> None:
        """Raises RefusedError when there is such an object, PipelineError when the store refuses for another reason."""
        from botocore.exceptions import BotoCoreError, ClientError

        if name in self.names(str(PurePosixPath(name).parent)):
            raise _taken(self.place, name)  # not every store obeys the condition below
        try:
            self._client.put_object(Bucket=self._bucket, Key=self._key(name), Body=content, IfNoneMatch="*")
        except ClientError as error:
            if _code(error) in _TAKEN:
                raise _taken(self.place, name) from None
            raise self._failed(f"{name} cannot be written", error) from error
        except BotoCoreError as error:
            raise self._failed(f"{name} cannot be written", error) from error

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self._root, name) if part)

    def _failed(self, operation: str, error: Exception) -> PipelineError:
        return PipelineError(
            f"checkpoint {self.place}: {operation}: {error}",
            hint="--s3-endpoint says where the store is; its credentials come from the environment",
        )


@contextmanager
def usable_store(subject: str) -> Iterator[None]:
    """Turns what a client of a store says of its own settings into RefusedError."""
    from botocore.exceptions import BotoCoreError

    try:
        yield
    except (BotoCoreError, ValueError) as error:
        raise RefusedError(
            f"{subject}: its store cannot be asked: {error}",
            hint="an endpoint is written http://host:port, where it is set: --s3-endpoint, AWS_ENDPOINT_URL, "
            "claim_check.endpoint; the region is claim_check.region",
        ) from error


def _code(error: Exception) -> str:
    response: dict[str, dict[str, str]] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


def _taken(place: str, name: str) -> RefusedError:
    return RefusedError(
        f"checkpoint {place}: {name} is there already", hint="is the job running? stop it, and look at it again"
    )
