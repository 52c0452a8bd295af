"""The page as a browser will read it: well formed, by itself, and with nothing of the data taken for markup."""

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from devkit.observe.logs.first_errors import Complaint
from devkit.observe.settings import ChangedValue
from devkit.report.page.page import render_page
from devkit.report.run_record import RunRecord, read_run
from tests.unit.devkit.report import storm
from tests.unit.devkit.report.conftest import (
    LOST,
    STILL,
    expectation,
    result_of,
    with_arm,
    with_arm_result,
    with_result,
)

VOID = {"meta", "wbr", "br", "hr", "img", "input", "link"}
SECTIONS = [
    *("verdict", "time", "expectations", "difference", "repeat", "detail", "source", "logs", "faults", "environment")
]
WILD = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} &amp; <!-- ]]>"


class Page(HTMLParser):
    """Reads a document and notes its elements; an element that is not closed in its place is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> is not closed by its slash in HTML"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            self.texts.setdefault(tag, []).append(data)

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]

    def text(self, tag: str) -> str:
        return "".join(self.texts.get(tag, []))


def rendered(run: Path) -> str:
    return render_page(read_run(run))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return rendered(storm.write_run(tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_all_sections_in_their_order(page: Page) -> None:
    assert [one for one in page.attributes("id") if one != "hatch"] == SECTIONS
    assert page.attributes("aria-labelledby") == SECTIONS


def test_ids_are_used_once_and_lead_somewhere(page: Page) -> None:
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([\w-]+)\)", page.text("style"))) <= set(ids)


def test_nothing_is_fetched_from_anywhere(text: str, page: Page) -> None:
    """A link may lead away when a person follows it; what loads by itself must not."""
    loading = ("src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href", "manifest")
    assert [page.attributes(name) for name in loading] == [[]] * len(loading)
    assert {tag for tag, attributes in page.elements if "href" in attributes} <= {"a"}
    assert {"link", "iframe", "object", "embed", "base", "form"}.isdisjoint(tag for tag, _ in page.elements)
    assert not re.search(r"@import|url\((?!#)", page.text("style"))
    assert not re.search(r"fetch\(|XMLHttp|import\(|WebSocket|https?:", page.text("script"))


def test_the_policy_allows_its_own_style_and_script_only(page: Page) -> None:
    named = "Content-Security-Policy"
    (policy,) = [of["content"] or "" for _, of in page.elements if of.get("http-equiv") == named]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.text(tag).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert page.attributes("style") == [], "the policy forbids style attributes"
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_it_can_be_read_without_seeing_it(page: Page) -> None:
    figures = [attributes for tag, attributes in page.elements if attributes.get("role") == "img"]
    assert len(figures) > 20
    assert all(re.search(r"arm: .*\d", attributes["aria-label"] or "") for attributes in figures)
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in page.elements if tag == "th")
    assert ("html", {"lang": "en"}) in page.elements
    svgs = [attributes for tag, attributes in page.elements if tag == "svg" and "class" in attributes]
    assert all(of.get("aria-hidden") == "true" or of.get("role") == "img" or of["class"] == "failure" for of in svgs)


def test_headings_go_down_one_level_at_a_time(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_it_says_what_it_must(page: Page) -> None:
    main = " ".join(page.text("body").split())
    for needed in (
        "Reproduced and fixed",
        "exit code 0",
        "at least 2.5",
        "3.6: 812 requests for 226 fetches",
        "[408, 429, 500, 502, 503, 504]",
        "if server will 504 timeout after 60 seconds",
        "40 times faster than in production",
        "parses asked for / parses the upstream can do",
        "process 1 ended at 22.0 s with exit code 1",
        "… 30 frames",
        "devkit scenario run a-storm --seed 7",
        "Linux-6.1-x86_64-with-glibc2.36",
    ):
        assert needed in main
    assert "https://phabricator.wikimedia.org/T421216" in page.attributes("href")


def test_what_others_wrote_stays_text(tmp_path: Path) -> None:
    extra = [line | {"error": WILD} for line in storm.lines() if line["kind"] == "failed"]
    run = storm.write_run(tmp_path, extra=tuple(extra))
    lines = (run / "events.jsonl").read_text().splitlines()
    first = json.loads(lines[0]) | {"title": WILD, "quote": WILD, "preserves": WILD, "reference": f"javascript:{WILD}"}
    text = "\n".join([json.dumps(first), *lines[1:]]).replace("slow parsing", json.dumps(WILD)[1:-1])
    (run / "events.jsonl").write_text(text)
    (run / "incident/logs/pipeline-1.log").write_text(WILD)
    result, item = storm.result(), expectation(WILD, WILD, WILD, False)
    audit = result.arms["fixed"].audit.model_copy(update={"examples": (WILD,)})
    evidence = {"fixed": tuple(one.model_copy(update={"fault": WILD}) for one in result.fault_evidence["fixed"])}
    changes: dict[str, Any] = {
        "title": WILD,
        "fault_evidence": evidence,
        "reasons": (WILD,),
        "versions": {WILD: WILD},
        "repeat": WILD,
        "config_difference": {WILD: result.config_difference["deferral.policy"] | {"fixed": WILD}},
    }
    result = with_arm(result, expectations=(item,), audit=audit, holds=False, ended_by=WILD)
    (run / "result.json").write_text(result.model_copy(update=changes).model_dump_json())
    page = Page(rendered(run))
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("script"), tags.count("img")) == (1, 0)
    assert not [href for href in page.attributes("href") if not href.startswith("https://")]
    assert page.text("body").count("alert(2)> {{ 7*7 }} &amp; <!-- ]]>") > 10


RUN = {"t_s": 0.0, "kind": "run", **storm.metadata().model_dump(mode="json")}
BEGAN = {"t_s": 1.0, "kind": "phase", "arm": "incident", "phase": "arm", "text": "x"}
ERROR = {"t_s": 99.0, "kind": "harness error", "error": "kafka ended", "exit_code": 3}


@pytest.mark.parametrize(
    ("lines", "absent", "said"),
    [
        ([*storm.lines(), ERROR], {"expectations", "faults"}, ("No verdict", "kafka ended", storm.metadata().repeat)),
        ([RUN], {"time", "expectations", "detail", "logs", "faults"}, ("No verdict",)),
        ([RUN, BEGAN], {"expectations", "detail", "logs", "faults"}, ("cut short",)),
    ],
    ids=["it broke off", "it never came to an arm", "next to nothing is known of its arm"],
)
def test_a_run_without_a_verdict(
    tmp_path: Path, lines: list[dict[str, Any]], absent: set[str], said: tuple[str, ...]
) -> None:
    storm.write_run(tmp_path, with_result=False)
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = Page(rendered(tmp_path))
    assert page.attributes("aria-labelledby") == [one for one in SECTIONS if one not in absent]
    assert all(text in page.text("body") for text in said)


def test_a_pipeline_that_shows_little(tmp_path: Path) -> None:
    """What could not be observed is named, and not drawn as if nothing had been committed."""
    hidden = {"t_s": 60.0, "kind": "not_observable", "arm": "fixed", "observables": ["offsets"]}
    run = read_run(storm.write_run(tmp_path, extra=(hidden,)))
    item = expectation("drained", "true", "n/a: not observable", None)
    run = with_arm_result(with_result(run, pipeline="python mine.py <config>"), expectations=(item,), holds=None)
    page = Page(render_page(run))
    body = " ".join(page.text("body").split())
    assert "200 published; committed offsets could not be observed" in body
    assert "? n/adrainedtruen/a: not observable" in page.text("tbody")
    assert "fixed arm cannot be judged" in body
    assert "With the fix the pipeline was never restarted when the arm ended after 36 s (drained)" in body
    assert "not the kit's own, but python mine.py <config>." in body
    assert re.search(r"committed\d+ of 200not observable", body)


def test_a_single_arm_is_a_page_too(run: RunRecord) -> None:
    single = dataclasses.replace(run, arms={"incident": run.arms["incident"]})
    arms = {"incident": result_of(run).arms["incident"]}
    page = render_page(with_result(single, arms=arms, outcome="incident arm holds", fault_evidence={}))
    assert "Incident arm holds" in Page(page).text("h2")


def test_however_long_the_run_the_page_stays_small(tmp_path: Path) -> None:
    run = storm.write_run(tmp_path)
    samples = [line for line in storm.lines() if line["kind"] == "sample" and line["arm"] == "incident"]
    with (run / "events.jsonl").open("a") as timeline:
        for n in range(4_000):
            line = dict(samples[n % len(samples)]) | {"t_s": round(150 + n * 0.5, 3)}
            line["faults"] = {f"fault {k} {'x' * 60}": n // 2 * (1 + (n // 8) % 2) for k in range(4)}
            timeline.write(json.dumps(line) + "\n")
            if n % 4 == 0:
                for more in (
                    {"kind": "batch_started", "batch": n},
                    {"kind": "batch_written", "batch": n, "seconds": 0.4},
                    {"kind": "failed", "error": "x" * 5000},
                    {"kind": "process_ended", "process": n, "exit_code": 1},
                    {"kind": "process_restarted", "process": n},
                    {"kind": "started"},
                ):
                    timeline.write(json.dumps({"t_s": line["t_s"], "arm": "incident"} | more) + "\n")
    text = rendered(run)
    Page(text)
    assert len(text.encode()) < 1_500_000


def test_the_row_of_a_fault_on_a_part_has_all_its_cells(run: RunRecord) -> None:
    text = render_page(with_result(run, fault_evidence={"incident": (STILL,), "fixed": ()}))
    Page(text)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text[text.index('id="faults"') :])
    assert cells[-4:] == ["✓ yes", "pause: {part: kafka}", "8 to 13 s", "it was silent"]
    assert "Content-Length" not in text[text.index('id="faults"') :], "there is no rule of the mock to say that of"
    assert "No fault was injected in the fixed arm." in text


def test_a_verdict_that_failed_begins_with_what_the_program_said_and_ends_with_how_to_repeat_it(run: RunRecord) -> None:
    audit = result_of(run).arms["fixed"].audit
    audit = audit.model_copy(update={"lost": 2, "examples": ("lost: page 'X', event 0b9e: committed",)})
    complaint = Complaint(kind="warning", event="limits_disagree", text="the topic takes less", at_s=3)
    failed = with_arm_result(run, holds=False, expectations=(LOST,), audit=audit, complaints=(complaint,))
    body = Page(render_page(with_result(failed, outcome="fix does not hold", exit_code=1))).text("main")
    texts = [
        "The program said first",
        "warning (limits_disagree): the topic takes less",
        "Broken expectations",
        "fixed: audit: expected clean, measured lost 2",
        "What happened over time",
        "Committed offset and lag",
        "Expected and measured",
        "The difference between the arms",
        "What the audit found",
        "lost: page 'X', event 0b9e: committed",
        "Run it again",
        "Over time, in detail",
        "Events in and out",
    ]
    places = [body.index(text) for text in texts]
    assert places == sorted(places)


def test_a_run_that_is_not_of_the_file_as_it_is_says_so(run: RunRecord) -> None:
    changes = (ChangedValue(place="mock.rules", before=None, value=WILD),)
    page = Page(render_page(dataclasses.replace(run, metadata=run.metadata.model_copy(update={"changes": changes}))))
    assert f"not the file as it is: mock.rules: not set → {WILD}" in page.text("p")
