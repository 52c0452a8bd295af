"""One process per run that owns every other process of the run, its temporary directory and its state file.

    command line ──socket──▶ guardian ──▶ Kafka, object store, mock API, pipeline ──▶ JVM, pyspark.daemon, workers

The command line holds the other end of the socket. When it closes, for whatever reason (end, exception, SIGKILL),
the guardian ends all it owns and goes. `release` hands the run over on purpose: then only a signal ends it.

Ending a process group would not do: `pyspark.daemon` makes one of its own. So on Linux the guardian is a child
subreaper (orphans of the run become its children), and everywhere each process carries the run's id in its
environment, by which orphans are found. Should the guardian itself be killed, its children die with it on Linux
(parent-death signal), and `devkit clean` finds the rest by the id.
"""

from devkit.guardian.client import Guardian, ManagedProcess

__all__ = ["Guardian", "ManagedProcess"]
