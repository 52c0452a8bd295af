"""The template of the documents with a defect: it ends at the event of a page called Poison, and again when it is
started again, as that event is not committed. `POISON=skip` is the fix; with `POISON=swallow` it logs an exception, and
the event is gone.
"""

import json
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "examples"))
import my_pipeline

healthy = my_pipeline.enriched
log = logging.getLogger("poisoned")


def enriched(value: bytes) -> tuple[str | None, bytes]:
    """As the template does it, with the defect."""
    if b'"Poison"' in value and os.environ.get("POISON") == "swallow":
        try:
            json.loads(value)["no such part"]
        except KeyError:
            log.exception("an event was not enriched")
            return None, b""
    if b'"Poison"' in value and os.environ.get("POISON") != "skip":
        sys.exit("this page is more than I can take")
    return healthy(value)


my_pipeline.enriched = enriched
my_pipeline.main()
