"""What a master URL of Spark says of where tasks run."""

import re

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")
"""Executors, cores of each, MiB of each."""


def is_local(master: str) -> bool:
    """Whether tasks run in the driver's own JVM; those of `local-cluster[…]` run in processes of this machine."""
    return master.startswith("local") and not master.startswith("local-cluster")


def local_cluster(master: str) -> tuple[int, int] | None:
    """Executors, and the cores of each; None for any other master."""
    match = _LOCAL_CLUSTER.fullmatch(master)
    return (int(match[1]), int(match[2])) if match else None
