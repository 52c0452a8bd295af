"""Other text in the place of a text: of the same length, and the same for the same text.

A stand-in has as many characters as its text and as many bytes, in UTF-8 and in JSON: each character is one of as many
bytes, and one that JSON escapes stays. What stands for what depends on a key. A capture draws one and writes it
nowhere, so having the file it cannot be tried out whether a certain name is in it.
"""

import hmac
import re
import secrets
from hashlib import shake_256

_KEY_BYTES = 32
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
"""What JSON escapes."""
_TRIES = 64
"""Short texts may come to the same; then others are tried, as long as there may be any."""
_LONG = 14
"""Characters from which on two texts of a million share a stand-in once in a billion captures: each is one of 32."""

_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_LETTERS = b"abcdefghijklmnopqrstuvwxyz234567"
# A byte of the digest is one of 32 letters, each with the same chance.
_FIRST, _OTHER = (bytes(letters[n % 32] for n in range(256)) for letters in (_CAPITALS, _LETTERS))
_WIDE = {2: 0x0430, 3: 0x4E00, 4: 0x20000}
"""Where letters begin that take this number of bytes: Cyrillic (32 of them), Chinese (256 each)."""


class StandIns:
    """Different texts get different stand-ins wherever there are enough: of short texts what was given is remembered.

    Of longer ones two come to the same in no capture, so their texts need not be held.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(_KEY_BYTES) if key is None else key
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self._numbers: dict[int, int] = {}
        self._taken_numbers: set[int] = set()

    def text(self, text: str) -> str:
        """The stand-in of a text."""
        if len(text) - len(_ESCAPED.findall(text)) >= _LONG:
            drawn = self._drawn(text, 0)
            return drawn if drawn != text else self._drawn(text, 1)
        if text not in self._given:
            tries = (self._drawn(text, turn) for turn in range(_TRIES))
            stand_in = next(
                (candidate for candidate in tries if candidate != text and candidate not in self._taken), None
            )
            # There may be none: a text of one letter, the hundredth of its kind.
            self._given[text] = stand_in if stand_in is not None else self._drawn(text, 0)
            self._taken.add(self._given[text])
        return self._given[text]

    def number(self, number: int) -> int:
        """A number of as many digits and the same sign."""
        if number not in self._numbers:
            digits = len(str(abs(number)))
            # No negative one becomes zero, which has no sign.
            low = 0 if 0 <= number <= 9 else 10 ** (digits - 1)
            span, drawn = 10**digits - low, self._bits(f"{number}")
            tries = (low + (drawn + turn) % span for turn in range(min(_TRIES, span)))
            candidates = [
                candidate
                for candidate in (candidate if number >= 0 else -candidate for candidate in tries)
                if candidate != number
            ]
            # There may be none: the tenth number of one digit.
            self._numbers[number] = next(
                (candidate for candidate in candidates if candidate not in self._taken_numbers), candidates[0]
            )
            self._taken_numbers.add(self._numbers[number])
        return self._numbers[number]

    def digest(self, value: bytes) -> str:
        """Tells equal bytes from others, and nothing else of them: 64 hexadecimal digits."""
        return hmac.new(self._key, value, "sha256").hexdigest()

    def _bits(self, text: str) -> int:
        return int.from_bytes(self._stream(text, 0, 16), "big")

    def _drawn(self, text: str, turn: int) -> str:
        stream = self._stream(text, turn, len(text))
        first = _OTHER if text[:1].islower() else _FIRST
        plain = stream[:1].translate(first) + stream[1:].translate(_OTHER)
        if text.isascii() and not _ESCAPED.search(text):
            return plain.decode("ascii")
        return "".join(_like(character, chr(plain[n]), stream[n]) for n, character in enumerate(text))

    def _stream(self, text: str, turn: int, length: int) -> bytes:
        message = f"{turn}:{text}".encode("utf-8", "surrogatepass")
        return shake_256(len(self._key).to_bytes(2, "big") + self._key + message).digest(length)


def _like(character: str, plain: str, byte: int) -> str:
    """A character of as many bytes."""
    if _ESCAPED.match(character):
        return character
    width = len(character.encode("utf-8", "surrogatepass"))
    return plain if width == 1 else chr(_WIDE[width] + byte % (32 if width == 2 else 256))
