"""Plays edits and questions against one wiki and gives the records of its answers, by group and name."""

from collections.abc import Mapping
from typing import Final

from tests.conformance.asking import Unanswerable, ask
from tests.conformance.edits import Wiki, make_pages
from tests.conformance.questions import Question
from tests.conformance.recorded import Record, Recorder, labels_of
from tests.conformance.wire import Client

WRITES: Final = "00-writes"
DOMAIN: Final = "conformance.example"

Records = Mapping[str, Mapping[str, Record]]


def play(port: int, questions: list[Question], *, mock: bool) -> Records:
    """The records of a wiki that has no page of `pages.yaml` yet, and listens on a port of 127.0.0.1."""
    wiki = Wiki(port, DOMAIN)
    writes = make_pages(wiki)
    recorder = Recorder(wiki)
    records: dict[str, dict[str, Record]] = {
        WRITES: {write.name: recorder.record(write.name, write.answer, write.about) for write in writes}
    }
    for question in questions:
        try:
            answer = ask(wiki, question, mock=mock)
        except Unanswerable as error:
            record: Record = {"unanswerable": str(error)}
        else:
            record = recorder.record(question.name, answer, labels_of(question, wiki), question.ignore)
        records.setdefault(question.group, {})[question.name] = record
    return records


def version_of(port: int) -> str:
    """What software a wiki says it is."""
    generator: str = Client(port, DOMAIN).api(action="query", meta="siteinfo")["query"]["general"]["generator"]
    return generator
