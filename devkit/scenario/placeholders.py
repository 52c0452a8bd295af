"""Places that the kit fills in: `{config}`, `{checkpoint}`; in an operator's command, a raw configuration, and a
program's command line and variables.

Braces around anything but a word are left as they are, so an argument may be JSON.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from devkit.programs.places import Places
from devkit.programs.program_topics import ProgramTopics
from located_config.near import LIKE_BESIDE_OWN, near_miss, nearest

PLACES: Mapping[str, str] = {
    "python": "the interpreter that the kit runs with",
    "config": "the main program's configuration file",
    "checkpoint": "where it keeps its checkpoint",
    "bootstrap": "addresses of the brokers",
    "source": "its first source topic",
    "output": "its output topic",
    "error": "its error topic",
    "deferral": "its deferral topic",
    "object_store": "URL of the object store",
    "mock": "URL of the mock API",
    "claim_bucket": "bucket of the claim checks",
    "sparql_update": "URL of the triple store for updates",
    "sparql_query": "URL of the triple store for queries",
    "arm": "the arm's name",
    "uncommitted_since": "when the first of the events that it has not committed was published, as "
    "2026-01-31T12:00:00.000Z; by what its checkpoint has ever shown, also when that is lost",
    "revisions": "CSV file with the revision that the dump has of each entity",
    "dump_begun": "when the dump began, as 2026-01-31T12:00:00.000Z",
    "dump_ended": "when it was complete, in the same form",
}
"""Each place with its meaning."""
OF_DUMP = ("revisions", "dump_begun", "dump_ended")
"""The places of `traffic.dump`."""
OF_CONFIG = tuple(name for name in PLACES if name not in ("python", "config", "uncommitted_since", *OF_DUMP))
"""The places of a configuration file, which is written before the arm begins."""
OF_TRIPLE_STORE = ("sparql_update", "sparql_query")
"""The places that have a value only where a program needs a triple store."""
_PLACE = re.compile(r"\{([a-z_]+)\}")
_OWN_PLACE = re.compile(r"(?<!\$)\{([a-z_]+)\}")


def places_in(words: Sequence[str]) -> tuple[str, ...]:
    """The names of the places that are to be filled in, each once."""
    return tuple(dict.fromkeys(name for word in words for name in _PLACE.findall(word)))


def known_places(places: Collection[str], *, has_triple_store: bool) -> list[str]:
    """Those of them that have a value."""
    return [name for name in places if has_triple_store or name not in OF_TRIPLE_STORE]


def unknown_places(words: Sequence[str], places: Collection[str] = tuple(PLACES)) -> Iterator[str]:
    """A message for each place that is not among `places`."""
    for name in places_in(words):
        if name not in places:
            yield f"there is no place {{{name}}} to fill in; {near_miss(name, places)}"


def filled(words: Sequence[str], value_of: Callable[[str], str]) -> tuple[str, ...]:
    """The words with each place replaced by its value."""
    return tuple(_PLACE.sub(lambda place: value_of(place[1]), word) for word in words)


def filled_where_known(text: str, value_of: Callable[[str], str]) -> str:
    """The text with each place of a configuration file replaced by its value. All else stays as it is, a shell's
    `${mock}` too.
    """

    def value(place: re.Match[str]) -> str:
        try:
            return value_of(place[1])
        except KeyError:
            return place[0]

    return _OWN_PLACE.sub(value, text)


def misspelt_places(text: str, places: Collection[str]) -> Iterator[str]:
    """A message for each word in braces that is nearly one of the places, or one that has no value here."""
    for name in dict.fromkeys(_OWN_PLACE.findall(text)):
        if name not in places and (name in PLACES or nearest(name, places, like=LIKE_BESIDE_OWN)):
            yield f"there is no place {{{name}}} to fill in; {near_miss(name, places)}"


def placeholder_value(place: str, arm: str, places: Places, topics: ProgramTopics) -> str:
    """The value of a place that is known before the arm begins. Raises KeyError for any other."""
    store = places.triple_store
    values = {} if store is None else {"sparql_update": store.update, "sparql_query": store.query}
    values |= {
        "arm": arm,
        "checkpoint": places.checkpoint,
        "bootstrap": places.bootstrap,
        "object_store": places.s3_endpoint,
        "mock": places.mock_endpoint,
        "claim_bucket": places.claim_bucket,
        "source": topics.source,
        "output": topics.output,
        "error": topics.error,
        "deferral": topics.deferral,
    }
    return values[place]
