"""The base of what people write into catalogs, rules and states."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
