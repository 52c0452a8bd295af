"""A debugger for the pipeline: which of its processes waits for one, and where.

    driver    `python -m debugpy --listen … --wait-for-client -m pipeline …`
    worker    Spark starts its Python workers through `devkit.debug.spark_daemon`; the one that gets the port listens

The pipeline knows nothing of it. With several workers only one could listen, so there is one slot and so one worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, get_args

from devkit.stack.ports import LOOPBACK, free_port

if TYPE_CHECKING:
    from devkit.programs.launch import Launch  # this module is loaded in Spark's Python workers, too

Role = Literal["driver", "worker"]
ROLES: tuple[Role, ...] = get_args(Role)
PORT_VARIABLE = "DEVKIT_DEBUG_PORT"
PATIENCE = timedelta(days=1)
"""In place of the pipeline's stall_timeout: who looks at a batch may take his time."""
CAVEAT = "it was debugged, so its times are not the scenario's"


@dataclass(frozen=True)
class Debugger:
    """Where one process of each pipeline waits for a debugger; the port is the same for each start of it."""

    role: Role
    port: int = field(default_factory=free_port)

    def around(self, launch: "Launch") -> "Launch":
        """How the pipeline is to be started so that it waits."""
        return replace(
            launch, argv=self._command(launch.argv), environment={**launch.environment, **self._environment()}
        )

    def _command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        if self.role != "driver":
            return argv
        python, *module = argv
        listen = ["-m", "debugpy", "--listen", f"{LOOPBACK}:{self.port}", "--wait-for-client"]
        # Frozen modules have no source, so breakpoints in them are missed, and debugpy would say so at length.
        return (python, "-X", "frozen_modules=off", *listen, *module)

    def _environment(self) -> Mapping[str, str]:
        quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        return quiet | ({PORT_VARIABLE: str(self.port)} if self.role == "worker" else {})

    def spark_settings(self) -> Mapping[str, str]:
        """Settings that are added to Spark's."""
        if self.role != "worker":
            return {}
        return {"spark.master": "local[1]", "spark.python.daemon.module": "devkit.debug.spark_daemon"}

    def invitation(self) -> str:
        """The text that a person needs to attach."""
        attach = f'{{"type": "debugpy", "request": "attach", "connect": {{"host": "{LOOPBACK}", "port": {self.port}}}}}'
        process = "the driver waits" if self.role == "driver" else "the Python worker (one slot, so one) will wait"
        return f"{process} for a debugger at {LOOPBACK}:{self.port}; in VS Code's launch.json: {attach}"
