"""The proxy's process: `python -m devkit.proxy [--control-port N]`. Says on its output where it is controlled."""

import argparse
import sys

import uvicorn
import uvloop

from devkit.proxy.control import create_control
from devkit.proxy.port import LOOPBACK
from devkit.proxy.proxy import Proxy


class _Server(uvicorn.Server):
    async def startup(self, sockets: object = None) -> None:  # noqa: ARG002 - it binds its own
        await super().startup()
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(f"proxy controlled at http://{LOOPBACK}:{port}\n")
        sys.stdout.flush()


async def _serve(control_port: int) -> None:
    proxy = Proxy()
    config = uvicorn.Config(
        create_control(proxy),
        host=LOOPBACK,
        port=control_port,
        loop="none",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    try:
        await _Server(config).serve()
    finally:
        await proxy.close_all()


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m devkit.proxy", description=__doc__)
    parser.add_argument(
        "--control-port", type=int, default=0, help="Port of the control interface. Default: a free one."
    )
    uvloop.run(_serve(parser.parse_args().control_port))


if __name__ == "__main__":
    main()
