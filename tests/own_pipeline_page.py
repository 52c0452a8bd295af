"""What docs/own-pipeline.md gives to copy, as its reader copies it."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "own-pipeline.md").read_text()
TEMPLATE = DOCS / "examples" / "my_pipeline.py"
HAMMERING, CARELESS, LAGGING = "# hammering.yaml", "# careless.yaml", "# lagging.yaml"
"""How the scenarios of two arms begin."""


def block(language: str, beginning: str) -> str:
    """The only code block of that language that begins so."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = [one for one in blocks if one.startswith(beginning)]
    return str(found)


def careless() -> str:
    """`mine.py`, the template that may commit first, by the page's words."""
    text, loop = TEMPLATE.read_text(), "    for record in consumer:\n"
    assert text.count(loop) == 1
    return text.replace(loop, loop + block("python", "        if environ["))


def lagging() -> str:
    """`mine.py`, the template as a client of the Action API, by the page's words."""
    text, begin, end = TEMPLATE.read_text(), "    url = ", "\n\nif __name__"
    assert (text.count(begin), text.count(end)) == (1, 1)
    asked = text[: text.index(begin)] + block("python", "    query = ") + text[text.index(end) :]
    return asked.replace("import json\n", "import json\nfrom time import sleep\n")


def mine() -> str:
    """`mine.py`, the template with a loop around its request, by the page's words."""
    text, call, end = TEMPLATE.read_text(), "urllib.request.urlopen(", "\n\nif __name__"
    assert (text.count(call), text.count(end)) == (1, 1)
    loop = f"\n\n{block('python', 'def answered(')}{end}"
    return (
        text.replace(call, "answered(")
        .replace(end, loop)
        .replace("import json\n", "import json\nfrom time import sleep\n")
    )
