"""Words, names and edit summaries in several scripts, from Faker.

Streams carry every script, and byte lengths, JSON escapes and percent-encoding differ with it, so the traffic mixes
them on purpose. Faker fills each vocabulary once, under a fixed seed; what an event says is then drawn from it by the
traffic's own random source, which keeps generation quick and free of shared state.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache
from random import Random

LOCALES = ("en_US", "ja_JP", "ar_AA", "ru_RU", "el_GR", "he_IL", "th_TH", "bn_BD", "hy_AM")
_SEED = 20260302
_ILLEGAL_IN_TITLES = str.maketrans("", "", "#<>[]|{}_:/.'\"\\")
_TITLE_BYTES = 200  # a wiki allows 255, namespace and numbering included
_SUMMARIES = (
    "{}",
    "/* {} */ {}",
    'Reverted "{}"',
    "[[{}]]: {} → {}",
    "{} 🧭 {}",
    "C:\\{}\t<ref>{}</ref>",
    "",
)


@dataclass(frozen=True, slots=True)
class Language:
    """Raw material in one language."""

    locale: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]
    names: tuple[str, ...]

    def title(self, rng: Random) -> str:
        """A title without namespace: one to three words joined by underscores, the first letter a capital."""
        words = [rng.choice(self.words) for _ in range(rng.randint(1, 3))]
        while len(words) > 1 and len("_".join(words).encode()) > _TITLE_BYTES:
            words.pop()
        title = "_".join(words)
        return title[0].upper() + title[1:]

    def summary(self, rng: Random) -> str:
        """What an editor writes about an edit; sometimes nothing, sometimes with characters that JSON escapes."""
        template = rng.choice(_SUMMARIES)
        return template.format(*(rng.choice(self.sentences) for _ in range(template.count("{}"))))

    def reason(self, rng: Random) -> str:
        """Why a page is moved, deleted or restored; never empty."""
        return rng.choice(self.sentences)

    def name(self, rng: Random) -> str:
        """A user's name."""
        return rng.choice(self.names)


@cache
def languages() -> tuple[Language, ...]:
    """The vocabularies of LOCALES, the same in every process."""
    return tuple(_language(locale) for locale in LOCALES)


def _language(locale: str) -> Language:
    # Its import looks at all locales, and takes a tenth of what it takes to check a scenario.
    from faker import Faker

    faker = Faker(locale)
    faker.seed_instance(_SEED)
    words = dict.fromkeys(_plain(word) for word in faker.words(120, unique=True))
    names = dict.fromkeys(_plain(faker.name()) for _ in range(60))
    return Language(
        locale=locale,
        words=tuple(word for word in words if word),
        sentences=tuple(faker.sentence(nb_words=6) for _ in range(80)),
        names=tuple(name[:1].upper() + name[1:] for name in names if name),
    )


def _plain(text: str) -> str:
    """Fit for a title or a user name: composed, without characters that a wiki gives a meaning."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_ILLEGAL_IN_TITLES).split())
