"""A home of Spark that one program has for itself: below it, and nowhere else, its executors write what they say."""

import tempfile
from pathlib import Path

_WORK = "work"


def own_home(spark: Path, directory: Path, work: Path) -> Path:
    """A new home in `directory` that has all of `spark` by links; what executors write goes into `work`, which is made.

    Below Spark's own home no run would have it as evidence, and none would remove it.
    """
    home = Path(tempfile.mkdtemp(prefix="spark-", dir=directory.absolute()))
    for entry in spark.iterdir():
        if entry.name != _WORK:
            (home / entry.name).symlink_to(entry)
    work.mkdir(parents=True, exist_ok=True)
    (home / _WORK).symlink_to(work.absolute())
    return home
