import json

from hypothesis import given
from hypothesis import strategies as st

from mockapi.api.rest.envelope import json_text


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_json_is_compact_and_says_the_same(fields: dict[str, str]) -> None:
    text = json_text(fields)
    assert json.loads(text) == fields
    assert "\u2028".encode() not in text


def test_json_is_as_php_writes_it() -> None:
    assert json_text({"a/b": 'ä\u2028\x01\n"'}) == '{"a/b":"ä\\u2028\\u0001\\n\\""}'.encode()
