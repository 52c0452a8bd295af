"""All checks, in the order in which they are shown: what the others need comes first."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from devkit.doctor.docker import check_docker
from devkit.doctor.downloads import check_certificates, check_jars
from devkit.doctor.finding import MachineFinding
from devkit.doctor.machine import check_disk, check_memory, check_ports
from devkit.doctor.runtimes import check_class_cache, check_java, check_python, check_triple_store
from devkit.errors import DevkitError

Check = Callable[[], MachineFinding]

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "python": check_python,
        "memory": check_memory,
        "disk": check_disk,
        "ports": check_ports,
        "certificates": check_certificates,
        "java": check_java,
        "jars": check_jars,
        "class cache": check_class_cache,
        "triple store": check_triple_store,
        "docker": check_docker,
    }
)


def run_checks(checks: Mapping[str, Check] = CHECKS) -> list[MachineFinding]:
    """A finding for each of ``checks``; one that cannot do its work is a ``fail`` and does not stop the others."""
    return [_run(name, check) for name, check in checks.items()]


def _run(name: str, check: Check) -> MachineFinding:
    try:
        return check()
    except DevkitError as error:
        return MachineFinding(name, "fail", str(error), error.hint)
    except OSError as error:
        return MachineFinding(name, "fail", f"could not be checked: {error}")
