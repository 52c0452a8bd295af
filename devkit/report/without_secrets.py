"""What a report is made of, without the secrets in settings and in what programs said."""

import json
from typing import TypeVar

from pydantic import BaseModel

from located_config.redaction import redacted

_M = TypeVar("_M", bound=BaseModel)


def without_secrets(found: _M) -> _M:
    """The same with each secret hidden, as it is then written and shown."""
    return type(found).model_validate_json(json.dumps(redacted(json.loads(found.model_dump_json()))))
