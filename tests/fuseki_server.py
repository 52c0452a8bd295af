"""Apache Jena Fuseki with a TDB2 database on disk: another triple store than Oxigraph, on the kit's own Java."""

from collections.abc import Sequence
from pathlib import Path

from devkit.jvm import jars
from devkit.jvm.runtime import java_command
from tests.oxigraph_server import OxigraphServer

_LOCK = Path(__file__).with_name("fuseki.lock")
_MAIN = "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"
_DATASET = "/wiki"
_HEAP_BYTES = 512 << 20


class FusekiServer(OxigraphServer):
    """It is started and ended as Oxigraph's server is."""

    @property
    def update_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{_DATASET}/update"

    def command(self) -> Sequence[str | Path]:
        """Downloads the jar, if the kit's cache does not have it. Raises SetupError where it cannot be had."""
        data = self.directory / "data"
        data.mkdir(exist_ok=True)
        arguments = ("--loc", str(data), "--update", "--localhost", "--port", str(self.port), _DATASET)
        return java_command(_MAIN, arguments, classpath=jars.ensure("fuseki", lock=_LOCK), heap_bytes=_HEAP_BYTES)
