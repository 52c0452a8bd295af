"""`python -m mockapi`: the mock by itself.

Exit codes: 0 ended by SIGTERM or SIGINT, 2 wrong arguments or file, 3 the address is taken.
"""

import argparse
import ipaddress
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from mockapi.app import Network
from mockapi.errors import MockapiError
from mockapi.loading import load_catalog, load_rules
from mockapi.server import bind, serve
from mockapi.world import Clock, World, Worlds


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until a signal comes; returns the exit code."""
    options = _parser().parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        catalog = load_catalog(options.catalog) if options.catalog else None
        rules = load_rules(options.rules) if options.rules else ()
        listener = bind(options.host, options.port)
    except MockapiError as error:
        sys.stderr.write(f"mockapi: {error}\n")
        return error.exit_code
    clock = Clock()
    with listener:
        serve(Worlds(World(options.seed, catalog, rules, clock), clock), listener, options.allow_control)
    return 0


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's arguments
    # Before the server runs this ends the start; afterwards uvicorn raises the signal again once it has shut down.
    sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mockapi",
        description="A mock of MediaWiki's HTTP API with deterministic pages and injectable faults.",
    )
    parser.add_argument("--port", type=_port, required=True, help="TCP port; 0 takes a free one and prints it")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=1, help="decides pages, draws and default catalog (default: %(default)s)"
    )
    parser.add_argument(
        "--catalog", type=Path, metavar="FILE.jsonl", help="a page a line (default: 1,000 made from the seed)"
    )
    parser.add_argument("--rules", type=Path, metavar="FILE.yaml", help="a list of fault rules (default: none)")
    parser.add_argument(
        "--allow-control",
        type=_network,
        action="append",
        default=[],
        metavar="CIDR",
        help="a network besides loopback from which /__mock answers, such as 172.16.0.0/12; may be repeated",
    )
    return parser


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        pass
    try:
        remedy = f"did you mean {ipaddress.ip_network(text, strict=False)}?"
    except ValueError:
        remedy = "write an address and the length of its prefix, such as 172.16.0.0/12"
    raise argparse.ArgumentTypeError(f"{text!r} is not a network: {remedy}")


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not a port: 0 to 65535")
    return port


if __name__ == "__main__":
    sys.exit(main())
