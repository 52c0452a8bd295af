"""What a race costs: processor seconds and resident memory, by who spends them.

Groups are process trees (broker, mock, contestant); within a contestant's, a process has a role by what it runs. A
process that has ended keeps what it had used when it was last looked at. What remains of the machine's busy time is
somebody else's: on a machine of one's own it is next to nothing, and it says how far a figure can be believed.
"""

import contextlib
import re
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

_INTERVAL_S = 0.5
_WITHOUT_ROLES = frozenset({"broker", "mock", "apply", "triple store"})


@dataclass(frozen=True)
class Used:
    """Of one role: processor seconds, and the most memory at one moment, in bytes; `threads` has the seconds of a
    process's threads by their names, where they were asked for.
    """

    cpu_s: float
    peak_rss: int
    threads: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """By role; `others_cpu_s` is what the rest of the machine used at the same time. `history` has what each role had
    used in all, in processor seconds, at moments (seconds since 1970).
    """

    by_role: Mapping[str, Used]
    others_cpu_s: float
    history: Sequence[tuple[float, Mapping[str, float]]] = ()

    @property
    def cpu_s(self) -> float:
        return sum(used.cpu_s for used in self.by_role.values())

    def between(self, begin_s: float, end_s: float) -> dict[str, float]:
        """Processor seconds by role from one moment to another, between looks in proportion."""
        at_begin, at_end = self._at(begin_s), self._at(end_s)
        return {role: used - at_begin.get(role, 0.0) for role, used in at_end.items()}

    def _at(self, moment_s: float) -> dict[str, float]:
        before, after = self.history[0], self.history[-1]
        for look in self.history:
            if look[0] <= moment_s:
                before = look
            else:
                after = look
                break
        way = min(1.0, max(0.0, (moment_s - before[0]) / max(after[0] - before[0], 1e-9)))
        return {role: before[1].get(role, 0.0) * (1 - way) + used * way for role, used in after[1].items()}


class UsageWatch:
    """Looks at process trees twice a second, from `start` to `stop`. `roots` name the group of each root process."""

    def __init__(self, roots: Mapping[int, str], *, threads: bool = False) -> None:
        self._roots, self._threads = roots, threads
        self._cpu_s: dict[tuple[str, int], float] = {}
        self._before: dict[tuple[str, int], float] = {}
        self._thread_s: dict[str, dict[tuple[int, int], tuple[str, float]]] = defaultdict(dict)
        self._peak: dict[str, int] = defaultdict(int)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="usage", daemon=True)
        self._machine_s = 0.0
        self._history: list[tuple[float, dict[str, float]]] = []

    def start(self, *, of_old: frozenset[int]) -> None:
        """`of_old` are roots that ran before: what they have used by now does not count."""
        self._machine_s = _machine_s()
        self._look()
        self._before = {key: used for key, used in self._cpu_s.items() if key[1] in of_old}
        self._thread_s.clear()
        self._history.clear()
        self._look()
        self._thread.start()

    def stop(self) -> Usage:
        self._stopped.set()
        self._thread.join()
        self._look()
        machine_s = _machine_s() - self._machine_s
        by_role = self._by_role()
        usage = {role: Used(cpu_s, self._peak[role], self._named(role)) for role, cpu_s in by_role.items()}
        return Usage(usage, max(0.0, machine_s - sum(by_role.values())), self._history)

    def _by_role(self) -> dict[str, float]:
        by_role: dict[str, float] = defaultdict(float)
        for key, used in self._cpu_s.items():
            by_role[key[0]] += used - self._before.get(key, 0.0)
        return dict(by_role)

    def _run(self) -> None:
        while not self._stopped.wait(_INTERVAL_S):
            self._look()

    def _look(self) -> None:
        rss: dict[str, int] = defaultdict(int)
        for role, process in self._processes():
            with contextlib.suppress(psutil.Error, OSError):
                times = process.cpu_times()
                self._cpu_s[role, process.pid] = times.user + times.system
                rss[role] += process.memory_info().rss
                if self._threads:
                    self._look_at_threads(role, process)
        for role, held in rss.items():
            self._peak[role] = max(self._peak[role], held)
        self._history.append((time.time(), self._by_role()))

    def _look_at_threads(self, role: str, process: psutil.Process) -> None:
        for thread in process.threads():
            comm = Path(f"/proc/{process.pid}/task/{thread.id}/comm").read_text().strip()
            self._thread_s[role][process.pid, thread.id] = (comm, thread.user_time + thread.system_time)

    def _named(self, role: str) -> dict[str, float]:
        by_name: dict[str, float] = defaultdict(float)
        for name, seconds in self._thread_s[role].values():
            by_name[name.rstrip("0123456789#-_ ")] += seconds
        most = sorted(by_name.items(), key=lambda item: -item[1])
        return {name: round(seconds, 2) for name, seconds in most if seconds >= 0.1}

    def _processes(self) -> list[tuple[str, psutil.Process]]:
        """All that descend from the roots, with their roles; one pass over the system's processes."""
        children: dict[int, list[psutil.Process]] = defaultdict(list)
        for process in psutil.process_iter(["ppid"]):
            children[process.info["ppid"]].append(process)
        found: list[tuple[str, psutil.Process]] = []
        for root, group in self._roots.items():
            with contextlib.suppress(psutil.Error):
                left = [psutil.Process(root)]
                while left:
                    process = left.pop()
                    found.append((role_of(group, process), process))
                    left.extend(children[process.pid])
        return found


def role_of(group: str, process: psutil.Process) -> str:
    """The group's name, or within a contestant what the process is."""
    if group in _WITHOUT_ROLES:
        return group
    command = _command(process)
    if "pyspark.worker" in command:
        return f"{group}: Python workers"
    if "java" in command.split(" ", 1)[0]:
        return f"{group}: JVM"
    return f"{group}: Python"


def format_cores(cores: Mapping[str, float]) -> str:
    """All together, and by role."""
    names = {role: re.sub(": Python$", " driver", role).replace(":", "") for role in cores}
    return f"{sum(cores.values()):.2f} cores ({', '.join(f'{names[role]} {used}' for role, used in cores.items())})"


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def _machine_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + getattr(times, "irq", 0.0) + getattr(times, "softirq", 0.0))
