"""By which source event a payload was stored. Its object says so beside the payload, as the key is made of that alone.

    source           topic/partition/offset
    source-time-ms   of the record, since the epoch

A repeated batch comes to a delete again when an undelete behind it has published already. What the undelete's event
has stored is not the delete's to remove, so a removal looks here first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING

from pipeline.records.record import Position

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_SOURCE, _TIME = "source", "source-time-ms"
_NOT_SAID = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ClaimOrigin:
    """A source event: where it stands, and the time of its record."""

    position: Position
    at_ms: int

    @classmethod
    def of(cls, position: Position, appended: datetime) -> "ClaimOrigin":
        """The origin for an event that was appended to its topic then."""
        return cls(position, (appended - _EPOCH) // timedelta(milliseconds=1))

    def is_behind(self, other: "ClaimOrigin") -> bool:
        """Whether it surely comes later than the other event.

        Offset and time have to say so both: of a topic that was made again, or moved to another cluster, offsets alone
        say nothing; nor do times alone, which are by the clocks of producers. Of one moment, which times of whole
        seconds make likely, nothing is sure: what is deleted must not stay.
        """
        return self.position.is_behind(other.position) and self.at_ms > other.at_ms

    def metadata(self) -> dict[str, str]:
        """For the object."""
        return {_SOURCE: str(self.position), _TIME: str(self.at_ms)}

    @classmethod
    def of_metadata(cls, metadata: Mapping[str, str]) -> "ClaimOrigin | None":
        """What `metadata()` says; None where it does not."""
        fields = {name.lower(): value for name, value in metadata.items()}  # some stores change the case of names
        try:
            topic, partition, offset = fields[_SOURCE].split("/")
            return cls(Position(topic, int(partition), int(offset)), int(fields[_TIME]))
        except (KeyError, ValueError):
            return None


def origin_of(client: "S3Client", bucket: str, key: str) -> ClaimOrigin | None:
    """The event for which the payload was stored. None where the object does not name it, does not exist, or may not be
    read. Raises other errors of botocore.
    """
    from botocore.exceptions import ClientError

    try:
        return ClaimOrigin.of_metadata(client.head_object(Bucket=bucket, Key=key)["Metadata"])
    except ClientError as error:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") in _NOT_SAID:
            return None
        raise
