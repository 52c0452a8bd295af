"""The generators of events by name: one of another package calls `register`."""

from collections.abc import Callable, Sequence

from devkit.traffic.records import GeneratedPage, Traffic
from devkit.traffic.stream import Stream
from located_config.registry import Registry

Generate = Callable[[Stream, Sequence[GeneratedPage]], Traffic]
"""From a stream, and the pages of those before it, to its records in order of `at` and all its pages: none of those
ids and titles is used again.
"""


def _page_change(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    # Its vocabulary is slow to import, and a file that is only checked needs none.
    from devkit.traffic.generate import generate

    return generate(stream, beside)


def _wikibase_change(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    from devkit.traffic.wikibase_change import generate_operations

    return generate_operations(stream, beside)


def _wikibase_source(stream: Stream, beside: Sequence[GeneratedPage]) -> Traffic:
    from devkit.traffic.wikibase_source import generate_source_events

    return generate_source_events(stream, beside)


GENERATORS: Registry[Generate] = Registry(
    "generator of events",
    {"page_change": _page_change, "wikibase_change": _wikibase_change, "wikibase_source": _wikibase_source},
)


def register(name: str, generate: Generate) -> None:
    """Add a generator, so that streams can name it. Raises ValueError when its name is taken."""
    GENERATORS.add(name, generate)
