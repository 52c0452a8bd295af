"""What the sections have in common: they take no unknown key, and are never changed."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from pipeline.config.address import require_servers, require_url

KIB = 1024
MIB = 1024 * KIB
Topic = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
Servers = Annotated[str, AfterValidator(require_servers)]
HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+$"), AfterValidator(require_url)]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?$")]


class Section(BaseModel):
    """A section."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
