"""The peers' Python: a virtual environment of their own in the user's cache directory, so that nothing of theirs is
the project's. It is made again when its lock changes.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from devkit.errors import StackError
from devkit.jvm.cache import cache_dir

PEERS = Path(__file__).parents[1] / "peers"

# glibc gives the memory of a page back and takes it again for the next one, which is half of what an answer costs.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(512 * 1024 * 1024), "MALLOC_MMAP_THRESHOLD_": str(64 * 1024 * 1024)}


def peer_python(name: str) -> Path:
    """The interpreter of an environment with what `benchmarks/peers/<name>-requirements.lock` says."""
    lock = PEERS / f"{name}-requirements.lock"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    directory = cache_dir() / "peers" / f"{name}-{digest}"
    python = directory / "bin" / "python"
    if not (directory / "complete").exists():
        shutil.rmtree(directory, ignore_errors=True)
        _run([sys.executable, "-m", "venv", "--without-pip", str(directory)])
        # justw put uv beside this interpreter; pip takes minutes for the largest of the peers.
        uv = str(Path(sys.executable).with_name("uv"))
        _run([uv, "pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(lock)])
        (directory / "complete").touch()
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StackError(f"{' '.join(command[:4])} failed: {done.stderr[-2000:]}")
