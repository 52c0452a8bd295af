import orjson

from devkit.observe.expected_output.enriched_event import payload_hash


def test_the_payload_hash_is_of_the_canonical_form() -> None:
    assert payload_hash({"b": [1, 2], "a": "é"}) == payload_hash(orjson.loads('{"a": "\\u00e9", "b": [1,2]}'))
    assert payload_hash({"a": 1}) != payload_hash({"a": 2})
