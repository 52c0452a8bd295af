"""`python -m mockapi`: the mock by itself; `python -m mockapi faults`: what its rules can do.

Exit codes: 0 ended by SIGTERM or SIGINT, 2 wrong arguments or file, 3 the address is taken.
"""

import argparse
import ipaddress
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from mockapi import faults_command
from mockapi.clock import Clock
from mockapi.command_parser import CommandParser
from mockapi.control.access import Access, Network
from mockapi.errors import MockapiError
from mockapi.inputs import add_option, load_catalog, load_extensions, load_rules, load_token
from mockapi.server.server import bind, serve
from mockapi.world import ProcessOptions, World, Worlds

TOKEN_VARIABLE = "MOCKAPI_CONTROL_TOKEN"
DEFAULT_PORT = 8080


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until a signal comes, or prints what was asked for; returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["faults"]:
        return faults_command.main(given[1:])
    return _serve(command_line().parse(given))


def _serve(options: argparse.Namespace) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    if options.exit_with_stdin:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        load_extensions(options.extend)
        catalog = load_catalog(options.catalog) if options.catalog else None
        rules = load_rules(options.rules) if options.rules else ()
        token = load_token(options.control_token_file, os.environ.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE)
        clock = Clock()
        process = ProcessOptions(base_url=options.base_url, lenient=options.lenient)
        world = World(options.seed, catalog, rules, clock, options=process)
        listener = bind(options.host, options.port)
    except MockapiError as error:
        sys.stderr.write(f"mockapi: {error}\n")
        return error.exit_code
    with listener:
        serve(Worlds(world, clock), listener, Access(tuple(options.allow_control), token))
    return 0


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a signal handler's arguments
    # Before the server runs this ends the start; afterwards uvicorn raises the signal again once it has shut down.
    sys.exit(0)


def _end_with_stdin() -> None:
    # Below `sys.stdin`: its lock, held by a daemon thread, would make the interpreter's end fail.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def command_line() -> CommandParser:
    """The options of `python -m mockapi`."""
    parser = CommandParser(
        prog="python -m mockapi",
        description="A mock of MediaWiki's HTTP API with deterministic pages and injectable faults.",
        epilog="`python -m mockapi faults` lists the faults. While the mock runs, it serves an overview at "
        "/__mock/, a description of its control interface at /docs, and metrics at /metrics.",
        commands=["faults"],
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help="TCP port to listen on; 0 takes a free one and prints it (default: %(default)s).",
    )
    parser.add_argument("--host", default="127.0.0.1", help="Address to listen on (default: %(default)s).")
    parser.add_argument(
        "--seed", type=_seed, default=1, help="Seed of pages, draws and default catalog (default: %(default)s)."
    )
    parser.add_argument(
        "--catalog",
        type=Path,
        metavar="FILE.jsonl",
        help="Catalog of the pages, one per line (default: 1,000 made from the seed).",
    )
    parser.add_argument("--rules", type=Path, metavar="FILE.yaml", help="List of fault rules (default: none).")
    parser.add_argument(
        "--base-url",
        type=_base_url,
        metavar="URL",
        help="Scheme, host and port of the absolute links in pages and answers. A {domain} in it stands for the wiki's "
        "domain, for catalogs with several wikis (default: https:// and the domain).",
    )
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="Let the Action API ignore modules and parameters that MediaWiki has and the mock has not, such as "
        "list=allpages, with MediaWiki's warning for unknown values (default: the error mock-not-implemented).",
    )
    add_option(parser)
    parser.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="End when standard input is closed: as a child whose parent holds the other end of a pipe, the mock ends "
        "with it, also after SIGKILL.",
    )
    parser.add_argument(
        "--allow-control",
        type=_network,
        action="append",
        default=[],
        metavar="CIDR",
        help="Network that may use the control interface, besides loopback, for example 172.16.0.0/12; may"
        " be repeated.",
    )
    parser.add_argument(
        "--control-token-file",
        type=Path,
        metavar="FILE",
        help="File with a token that every client of the control interface has to send as `Authorization: Bearer …`, "
        "also one on loopback. Any network may use it then, unless --allow-control is given. "
        f"{TOKEN_VARIABLE} sets the token without a file.",
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


def _base_url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in {"http", "https"} or not url.netloc or url.path.strip("/") or url.query or url.fragment:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a base URL: write scheme, host and port alone, such as http://127.0.0.1:8080"
        )
    return text.rstrip("/")


def _seed(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
