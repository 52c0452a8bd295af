"""Splitting a diff into parts that fit into records, triple by triple."""

from collections.abc import Iterator
from dataclasses import fields

import orjson

from pipeline.rdf.revision_diff import TripleDiff
from pipeline.rdf.triples import Triple

CHUNK_CHARACTERS = 128_000
_PARTS = tuple(field.name for field in fields(TripleDiff))


def split_diff(
    diff: TripleDiff, *, characters: int = CHUNK_CHARACTERS, payload_bytes: int | None = None
) -> list[TripleDiff]:
    """Chunks in the order of the diff, at least one. A chunk has at most `characters` of N-Triples text, and at most
    `payload_bytes` of it as JSON, or it is a single triple.
    """
    chunks = list[TripleDiff]()
    parts = _empty_parts()
    chunk_characters = chunk_bytes = 0
    for name, triple in _each_triple(diff):
        triple_characters = len(triple) + len("\n")
        triple_bytes = 0 if payload_bytes is None else json_bytes(triple)
        is_full = chunk_characters + triple_characters > characters or (
            payload_bytes is not None and chunk_bytes + triple_bytes > payload_bytes
        )
        if is_full and chunk_characters:
            chunks.append(_to_diff(parts))
            parts = _empty_parts()
            chunk_characters = chunk_bytes = 0
        parts[name].append(triple)
        chunk_characters += triple_characters
        chunk_bytes += triple_bytes
    return [*chunks, _to_diff(parts)]


def join_chunks(chunks: list[TripleDiff]) -> TripleDiff:
    """The diff that was split."""
    parts = _empty_parts()
    for chunk in chunks:
        for name in _PARTS:
            parts[name].extend(getattr(chunk, name))
    return _to_diff(parts)


def json_bytes(triple: Triple) -> int:
    """Bytes of a triple and its line's end within a JSON text."""
    quotes = len('""')
    return len(orjson.dumps(triple)) - quotes + len(r"\n")


def _each_triple(diff: TripleDiff) -> Iterator[tuple[str, Triple]]:
    for name in _PARTS:
        for triple in getattr(diff, name):
            yield name, triple


def _empty_parts() -> dict[str, list[Triple]]:
    return {name: [] for name in _PARTS}


def _to_diff(parts: dict[str, list[Triple]]) -> TripleDiff:
    return TripleDiff(**{name: tuple(triples) for name, triples in parts.items()})
