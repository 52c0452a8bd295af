"""Which runs of apostrophes are italic and bold, as MediaWiki decides it for one line.

"l'''amour'' x"  ──>  the runs 3 and 2 do not pair up: one apostrophe of the first becomes text
"""

from collections.abc import Sequence

Tags = list[str]


def balanced(runs: Sequence[int], before: Sequence[str]) -> list[tuple[int, int]]:
    """For each run of two and more apostrophes: how many are text, and how many markup (2, 3 or 5).

    `before[n]` is the text that stands before run n, back to the run before it.
    """
    split = [_split(run) for run in runs]
    italics = sum(markup in {2, 5} for _, markup in split)
    bolds = sum(markup in {3, 5} for _, markup in split)
    if italics % 2 == 0 or bolds % 2 == 0:
        return split
    chosen = _not_bold(split, before)
    if chosen is not None:
        plain, _ = split[chosen]
        split[chosen] = (plain + 1, 2)
    return split


def _split(run: int) -> tuple[int, int]:
    if run == 4:
        return 1, 3
    return (run - 5, 5) if run > 5 else (0, run)


def _not_bold(split: Sequence[tuple[int, int]], before: Sequence[str]) -> int | None:
    """The bold mark that is most likely an apostrophe and an italic one."""
    first: dict[str, int] = {}
    for n, (plain, markup) in enumerate(split):
        if markup != 3:
            continue
        text = before[n] + "'" * plain
        if text[-1:] == " ":
            first.setdefault("space", n)
        elif text[-2:-1] == " ":
            return n
        else:
            first.setdefault("word", n)
    return first.get("word", first.get("space"))


def tags(markups: Sequence[int]) -> list[Tags]:
    """For each mark of a line the tags it stands for, such as `["/b", "i"]`; last, those that close the line."""
    open_tags: list[str] = []
    written: list[Tags] = []
    for n, markup in enumerate(markups):
        following = markups[n + 1] if n + 1 < len(markups) else 0
        written.append(_toggled(open_tags, markup, following))
    written.append([f"/{tag}" for tag in reversed(open_tags)])
    return written


def _toggled(open_tags: list[str], markup: int, following: int) -> Tags:
    if markup == 5:
        if not open_tags:
            both = ["i", "b"] if following in {3, 5} else ["b", "i"]
            open_tags.extend(both)
            return both
        closing = [f"/{tag}" for tag in reversed(open_tags)]
        opening = [tag for tag in ("i", "b") if tag not in open_tags]
        open_tags[:] = opening
        return closing + opening
    tag = "i" if markup == 2 else "b"
    if tag not in open_tags:
        open_tags.append(tag)
        return [tag]
    inner = open_tags[open_tags.index(tag) + 1 :]
    open_tags[:] = [other for other in open_tags if other != tag]
    return [*(f"/{other}" for other in reversed(inner)), f"/{tag}", *inner]
