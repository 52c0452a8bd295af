"""What a run came to."""

from typing import Literal

Outcome = Literal[
    "reproduced and fixed",
    "not reproduced",
    "fix does not hold",
    "incident arm holds",
    "incident arm does not hold",
    "fixed arm holds",
    "fixed arm does not hold",
    "inconclusive",
]
