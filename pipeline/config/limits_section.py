"""What is too large for a record, and where it goes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from located_config.size import Size
from pipeline.config.section import MIB, HttpUrl, Section
from pipeline.jobs.names import FIRST, other_defaults


class ContentLimit(Section):
    """Which fetched content is too large for a record, and becomes a claim check."""

    max_bytes: Annotated[Size, Field(ge=0)] = Field(
        default=18 * MIB, description="Largest content that stays in the record; larger content becomes a claim check."
    )
    measure: Literal["decoded", "content_length"] = Field(
        default="decoded",
        description="What is compared with `max_bytes`. `decoded`: the UTF-8 bytes of latest HTML and diff. "
        "`content_length`: the response header, which is unsafe, as it gives the compressed length "
        "and may be absent.",
    )


class RecordLimit(Section):
    """Whether a record is measured as the producer will before it is produced."""

    policy: Literal["serialized", "none"] = Field(
        default="serialized",
        description="`serialized` measures each record as the producer will, before it is produced. `none` is "
        "unsafe: the producer refuses a record that is too large, and the query fails.",
    )


class ErrorEvents(Section):
    """What an error event carries."""

    payload: Literal["bounded", "full_event"] = Field(
        default="bounded",
        description="Which part of the failed event an error event contains. `bounded`: its source position and "
        "a short message. `full_event` is unsafe: also the whole event in `raw_event`, with the "
        "content fetched by then; if this is too large for the sink, the query fails.",
    )


class ClaimCheck(Section):
    """Where payloads that are too large for a record go."""

    bucket: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{2,62}$")] = Field(
        default="claim-checks", description="Bucket for payloads that are too large for a record."
    )
    prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/-]*$")] = Field(
        default=FIRST.claim_prefix,
        description=f"Prefix of their keys in the bucket.{other_defaults('claim_prefix')}",
    )
    endpoint: HttpUrl | None = Field(
        default=None, description="Address of the object store, without a path. Default: that of the region at AWS."
    )
    region: str = Field(default="us-east-1", description="Region that requests to the object store are signed for.")
    suppressed: Literal["keep", "remove"] = Field(
        default="keep",
        description="What happens to earlier claim checks when an event deletes their page, or hides a part of "
        "their revision, in jobs that read page changes. `remove`: they are removed before the "
        "event's record is emitted, and headers of the record say what it suppresses. It cannot be "
        "undone, and the credentials need the rights to list, to read and to delete.",
    )
    max_bytes: Annotated[Size, Field(ge=0)] = Field(
        default=64 * MIB,
        description="Largest body that is read; a larger one is cut off and becomes the error event `body_too_large`.",
    )
