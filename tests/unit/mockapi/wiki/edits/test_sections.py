from hypothesis import given
from hypothesis import strategies as st

from mockapi.wiki.edits.source import section_of, with_section

LINES = st.lists(st.sampled_from(["a", "", "== A ==", "=== B ===", "= C =", "==", "x ="]), max_size=10)


@given(LINES, st.integers(1, 6))
def test_a_section_in_its_own_place_changes_no_other(lines: list[str], number: int) -> None:
    text = "\n".join(lines)
    section = section_of(text, str(number))
    if section is None:
        assert with_section(str(number), text, "x") is None
        return
    assert section in text
    changed = with_section(str(number), text, section)
    assert changed is not None
    assert lines_of(changed) == lines_of(text)


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]
