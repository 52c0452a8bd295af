"""The kit's proxy as a process of the run; `devkit.proxy` says what it does."""

import re
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from devkit.guardian import Guardian
from devkit.proxy.client import ProxyControl
from devkit.stack.parts.running import Life, require_running
from devkit.waiting import wait_until

_READY = timedelta(seconds=30)
_READY_LINE = re.compile(r"controlled at (http://\S+)")


@dataclass(frozen=True)
class ProxyProcess:
    """A proxy that has no listener yet, or those that `control` has made."""

    process: Life
    control: ProxyControl


def start_proxy(guardian: Guardian, logs: Path) -> ProxyProcess:
    """Start a proxy, and wait until it can be driven."""
    process = guardian.spawn("proxy", [sys.executable, "-m", "devkit.proxy"], logs=logs, split=True)

    def endpoint() -> str | None:
        require_running(process)
        match = _READY_LINE.search(process.stdout.read_text())
        return match[1] if match else None

    found = wait_until(
        endpoint, what="the proxy to say where it is controlled", deadline=_READY, hint=f"its log is {process.stderr}"
    )
    return ProxyProcess(process, ProxyControl(found))
