"""Text that looks like an article's, in the wiki's script with passages in others.

For each language a fixed stock of sentences and topics is built once, from the words below and nothing else: the
seed decides which of them stand where, not what they are. The stock is part of what a seed promises.
"""

import random
from dataclasses import dataclass
from functools import cache
from statistics import fmean

LANGUAGES = ("en", "de", "fr", "ru", "el", "ar", "he", "hi", "ja", "zh", "ko", "th")
RIGHT_TO_LEFT = frozenset({"ar", "he", "fa", "ur"})

_SENTENCES = 256
_TOPICS = 192
_WITHOUT_SPACES = frozenset({"ja", "zh", "th"})
_FOREIGN_EVERY = 6

# ruff: noqa: RUF001 - Cyrillic and Greek letters are meant

_WORDS = {
    "en": "the river city harbour museum century festival bridge council early northern railway industry settlement "
    "was built known became region valley several people music during after local school famous castle water trade",
    "de": "die Stadt liegt am Fluss und wurde später über größere Straßen mit dem Süden verbunden seit Jahrhundert "
    "Kirche Gemeinde Höhe früher Bevölkerung Universität Gebäude königlich möglich Brücke",
    "fr": "la ville située près de rivière fut fondée au siècle par évêque château église également région où après "
    "première été côte île forêt musée célèbre ancienne",
    "ru": "город расположен на берегу реки был основан в веке население составляет область музей северный железная "
    "дорога известен также школа мост история большой",
    "el": "η πόλη βρίσκεται κοντά στο ποτάμι και ιδρύθηκε τον αιώνα μουσείο γέφυρα περιοχή βόρεια ιστορία "
    "πανεπιστήμιο λιμάνι γνωστή",
    "ar": "تقع المدينة على ضفاف النهر وقد تأسست في القرن متحف جسر منطقة شمال تاريخ جامعة ميناء معروفة سكان",
    "he": "העיר שוכנת על גדת הנהר ונוסדה במאה מוזיאון גשר אזור צפון היסטוריה אוניברסיטה נמל ידועה אוכלוסייה",
    "hi": "यह नगर नदी के तट पर स्थित है और इसकी स्थापना शताब्दी में हुई संग्रहालय पुल क्षेत्र उत्तर इतिहास विश्वविद्यालय",
    "ja": "この 都市 は 川 の ほとり に あり 世紀 に 建設 された 博物館 橋 地域 北部 歴史 大学 港 人口 として 知られる",
    "zh": "这座 城市 位于 河流 沿岸 建于 世纪 博物馆 桥梁 地区 北部 历史 大学 港口 人口 以及 著名 铁路",
    "ko": "이 도시는 강가에 위치하며 세기에 세워졌다 박물관 다리 지역 북부 역사 대학교 항구 인구 철도 유명한",
    "th": "เมือง นี้ ตั้งอยู่ ริม แม่น้ำ และ ก่อตั้ง ใน ศตวรรษ พิพิธภัณฑ์ สะพาน ภูมิภาค เหนือ ประวัติศาสตร์ มหาวิทยาลัย",
}


@dataclass(frozen=True, slots=True)
class Prose:
    """The stock of one language: `sentences` with inline HTML, `plain` ones without markup, quotes or backslashes,
    and `topics`, capitalised names that need no escaping in HTML or JSON. `sentence_bytes` and `topic_bytes` are the
    means of the two in UTF-8.
    """

    sentences: tuple[str, ...]
    plain: tuple[str, ...]
    topics: tuple[str, ...]
    sentence_bytes: float
    topic_bytes: float


@cache
def prose(language: str) -> Prose:
    """The stock for a language code; English for a language that has none."""
    if language not in _WORDS:
        return prose("en")
    source = random.Random(f"prose {language}")
    plain = tuple(_sentence(language, source) for _ in range(_SENTENCES))
    sentences = tuple(_marked_up(language, n, text, source) for n, text in enumerate(plain))
    topics = tuple(dict.fromkeys(_topic(language, source) for _ in range(_TOPICS)))
    return Prose(sentences, plain, topics, _mean_bytes(sentences), _mean_bytes(topics))


def _mean_bytes(texts: tuple[str, ...]) -> float:
    return fmean(len(text.encode()) for text in texts)


@cache
def _words(language: str) -> tuple[str, ...]:
    return tuple(_WORDS[language].split())


def _pick(items: tuple[str, ...], source: random.Random) -> str:
    return items[int(source.random() * len(items))]


def _phrase(language: str, words: int, source: random.Random) -> str:
    between = "" if language in _WITHOUT_SPACES else " "
    return between.join(_pick(_words(language), source) for _ in range(words))


def _sentence(language: str, source: random.Random) -> str:
    text = _phrase(language, 6 + int(source.random() * 7), source)
    return text[:1].upper() + text[1:] + ("。" if language in {"ja", "zh"} else ".")


def _topic(language: str, source: random.Random) -> str:
    first, second = (_pick(_words(language), source) for _ in range(2))
    return f"{first[:1].upper()}{first[1:]} {second}"


def _marked_up(language: str, n: int, text: str, source: random.Random) -> str:
    """Every sixth sentence quotes another script; some carry emphasis, an entity or a backslash."""
    if n % _FOREIGN_EVERY == 0:
        other = LANGUAGES[(LANGUAGES.index(language) + 1 + n // _FOREIGN_EVERY) % len(LANGUAGES)]
        direction = "rtl" if other in RIGHT_TO_LEFT else "ltr"
        quoted = _phrase(other, 3, source)
        return f'{text[:-1]} (<span lang="{other}" dir="{direction}">{quoted}</span>).'
    if n % 8 == 1:
        return f"<b>{text}</b>"
    if n % 8 == 3:
        return f'He called it "<i>{text[:-1]}</i>" &amp; left.'
    if n % 64 == 5:
        return f"{text} <code>C:\\wiki\\{n}</code>"
    return text
