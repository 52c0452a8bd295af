"""The user's own jobs, in the driver and in each Python worker: see `located_config.extension`."""

import os
from collections.abc import Sequence

from located_config import extension
from located_config.extension import ExtensionError, environment_for
from pipeline.errors import RefusedError

GROUP = "enrichment_pipeline.extensions"
"""The entry points of installed packages."""


def load_extensions(written: Sequence[str] = ()) -> None:
    """Those of installed packages, of the environment, and those written, which the workers then get as well.

    Raises RefusedError.
    """
    try:
        extension.load_extensions((GROUP,), written)
    except ExtensionError as error:
        raise RefusedError(f"{error}", hint=error.hint) from error
    os.environ.update(environment_for("job"))
