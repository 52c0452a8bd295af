"""`python -m tests.conformance.record`: records the answers of a real MediaWiki again, then compares the mock.

    real MediaWiki ── play ──> expected/*.json ──┐
                                                 ├── compare ──> counts in differences.yaml ──> docs/conformance.md
    mock ──────────── play ──────────────────────┘

With `--mock-only` the recorded answers stay, and no MediaWiki is needed. New differences are printed: they want a fix,
or an entry with its reason.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.expectations import load, load_version, save
from tests.conformance.known import Comparison, Found, compare, count, load_known, write_counts
from tests.conformance.mediawiki.debian import DEFAULT_CACHE, FetchError
from tests.conformance.mediawiki.install import install
from tests.conformance.mediawiki.serve import serve
from tests.conformance.mock_side import serve_mock
from tests.conformance.playing import DOMAIN, Records, play, version_of
from tests.conformance.questions import load_questions
from tests.conformance.table import DOCUMENT, document


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0; 1 when there are differences that no entry covers; 3 when this machine cannot serve MediaWiki."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.record", description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where what is fetched is kept")
    parser.add_argument("--mock-only", action="store_true", help="compare with what is recorded already")
    options = parser.parse_args(arguments)
    if not options.mock_only:
        try:
            save(*_record(options.cache.resolve()))
        except FetchError as error:
            sys.stderr.write(f"cannot record: {error}\n")
            return 3
    comparison = compare(load(), play_mock())
    news = _update(comparison)
    for found in news:
        sys.stdout.write(f"{found}\n")
    answers = sum(comparison.compared.values())
    sys.stdout.write(f"{answers} answers, {len(comparison.found)} differences, {len(news)} of them without an entry\n")
    return 1 if news else 0


def play_mock() -> Records:
    """The mock's answers to all questions."""
    with serve_mock(DOMAIN) as port:
        return play(port, load_questions(), mock=True)


def _record(cache: Path) -> tuple[Records, str]:
    wiki = install(cache)
    with serve(wiki, domain=DOMAIN) as port:
        return play(port, load_questions(), mock=False), version_of(port)


def _update(comparison: Comparison) -> list[Found]:
    counts, news = count(load_known(), comparison)
    write_counts(counts)
    DOCUMENT.write_text(document(comparison, load_known(), load_version()), encoding="utf-8")
    return news


if __name__ == "__main__":
    sys.exit(main())
