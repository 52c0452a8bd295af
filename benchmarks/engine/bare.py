"""A client that fetches both pages of every event and does nothing else: no broker, no diff, no output.

`bare aiohttp` is one process with aiohttp and uvloop, as one writes it; `bare fastest` the fastest client found, in
two processes.
"""

import json
import time
from pathlib import Path

from benchmarks.engine.peer_environment import KEEP_MEMORY, PEERS, peer_python
from benchmarks.engine.race import DEADLINE, Outcome
from benchmarks.engine.stack import BenchStack
from benchmarks.engine.usage import UsageWatch
from benchmarks.engine.workload import Workload
from devkit.errors import StackError
from devkit.programs.launch import Launch
from devkit.waiting import wait_until

_WAYS = {"bare aiohttp": ("aiohttp", 1), "bare fastest": ("raw", 2)}
_IN_FLIGHT = 256


def bare_outcome(which: str, stack: BenchStack, workload: Workload, directory: Path) -> Outcome:
    """The rate is that from the first request to the last answer, for all three measures. Raises DevkitError."""
    client, processes = _WAYS[which]
    directory.mkdir(parents=True, exist_ok=True)
    events = list(workload.revisions) * (workload.count // len(workload.revisions) + 1)
    python = str(peer_python("asyncio"))
    started_s = time.time()
    spawned = []
    for number in range(processes):
        pairs = directory / f"pairs-{number}.json"
        pairs.write_text(json.dumps(events[: workload.count][number::processes]))
        argv = (python, str(PEERS / "bare_client.py"), "--endpoint", stack.mock.endpoint, "--pairs", str(pairs))
        argv += ("--client", client, "--in-flight", str(_IN_FLIGHT // processes), "--coding", workload.coding)
        environment = {"PYTHONPATH": str(PEERS)} | (KEEP_MEMORY if client == "raw" else {})
        spawned.append(Launch(argv, environment).spawn(stack.guardian, f"bare-{number}", logs=directory))
    mock = stack.mock_pid
    assert mock
    watch = UsageWatch({mock: "mock"} | dict.fromkeys((p.pid for p in spawned), which))
    watch.start(of_old=frozenset((mock,)))
    wait_until(lambda: all(p.exit_code is not None for p in spawned), what=which, deadline=DEADLINE)
    usage = watch.stop()
    if any(p.exit_code for p in spawned):
        raise StackError(f"{which} failed: {spawned[0].last_words()}")
    times = [json.loads(process.stdout.read_text()) for process in spawned]
    begun, ended = min(t["begun"] for t in times), max(t["ended"] for t in times)
    rate = workload.count / (ended - begun)
    return Outcome(
        contestant=which,
        events=workload.count,
        outputs=0,
        errors=0,
        whole=workload.count / (ended - started_s),
        appending=rate,
        steady=rate,
        first_output_s=begun - started_s,
        cpu_ms=usage.cpu_s * 1000 / workload.count,
        usage=usage,
        sample="",
    )
