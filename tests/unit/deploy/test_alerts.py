"""When each alert of the updater's programs fires, by `promtool test rules`. That each has cases is checked without."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

_ALERTS = Path(__file__).parents[3] / "deploy" / "prometheus" / "alerts.yaml"
_PROMTOOL = shutil.which("promtool")
_STEP_S = 30
_JOB, _APPLY = 'job="enrichment",instance="a"', 'job="enrichment-apply",instance="a"'
_LAG = f'enrichment_lag_seconds{{topic="t",partition="0",{_APPLY}}}'
_JOB_LAG = _LAG.replace("-apply", "")
_OFFSET, _SLOTS = f"enrichment_apply_next_offset{{{_APPLY}}}", {"enrichment_slots_configured": "4x40"}
_DIVERGING = f'enrichment_apply_diverging_triples_total{{kind="missing",{_APPLY}}}'
_PROBED = f"enrichment_apply_probed_triples_total{{{_APPLY}}}"
_ORPHANS = f'enrichment_apply_chunks_dropped_total{{reason="orphan",{_APPLY}}}'
_PREFIXES = _ORPHANS.replace("orphan", "prefix")
_STORE = f'enrichment_apply_store_seconds_sum{{kind="update",{_APPLY}}}'
_POLL = f"enrichment_apply_poll_seconds_sum{{{_APPLY}}}"
_STARTED = f"enrichment_apply_started_timestamp_seconds{{{_APPLY}}}"
_JOB_STARTED = f"enrichment_started_timestamp_seconds{{{_JOB}}}"
# A sample every 30 s. A process that lives for two minutes and is away for one, twelve times.
_LIVES_BRIEFLY = " ".join(f"{start}x3 _x1 stale" for start in range(0, 2160, 180))
_BEGINS_TO_DIE = "0x40 " + " ".join(f"{start}x3 _x1 stale" for start in range(1230, 3390, 180))
_LIVES_ON = "0x80"
_STARTED_ONCE_MORE = "0x40 1230x40"


@dataclass(frozen=True)
class Case:
    """Series as promtool writes them, and the minutes after which the alert is firing, or not."""

    alert: str
    series: dict[str, str]
    firing: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()

    def file(self) -> str:
        """A file of tests for promtool; the alert's other labels are of no matter."""
        query = f'count(ALERTS{{alertname="{self.alert}",alertstate="firing"}})'
        at = [(minutes, [{"labels": "{}", "value": 1}]) for minutes in self.firing]
        at += [(minutes, []) for minutes in self.silent]
        tests = [{"expr": query, "eval_time": f"{minutes}m", "exp_samples": samples} for minutes, samples in at]
        series = [{"series": name, "values": values} for name, values in self.series.items()]
        test = {"interval": f"{_STEP_S}s", "input_series": series, "promql_expr_test": tests}
        return yaml.safe_dump({"rule_files": [str(_ALERTS)], "evaluation_interval": f"{_STEP_S}s", "tests": [test]})


CASES = [
    Case("EnrichmentIsUnstable", {_JOB_STARTED: _LIVES_BRIEFLY}, firing=(8, 20, 30), silent=(4,)),
    Case("EnrichmentIsUnstable", {_JOB_STARTED: _LIVES_ON}, silent=(4, 5, 6, 12, 30)),
    Case("EnrichmentIsUnstable", {_JOB_STARTED: _STARTED_ONCE_MORE}, silent=(20, 23, 26, 31, 35)),
    Case("EnrichmentLatency", {_JOB_LAG: "601x60", _LAG: "0x60"}, firing=(10, 20), silent=(9,)),
    Case("EnrichmentLatency", {_JOB_LAG: "600x60", _LAG: "9000x60"}, silent=(10, 25)),
    Case("EnrichmentApplyIsDown", {f"up{{{_APPLY}}}": "1x9 0x60"}, firing=(8,), silent=(5, 6)),
    Case("EnrichmentApplyIsDown", {f"up{{{_APPLY}}}": "1x60", f"up{{{_JOB}}}": "0x60"}, silent=(20,)),
    Case("EnrichmentApplyIsUnstable", {_STARTED: _LIVES_BRIEFLY}, firing=(8, 20, 30), silent=(4,)),
    Case("EnrichmentApplyIsUnstable", {_STARTED: _BEGINS_TO_DIE}, firing=(37, 45), silent=(20, 29)),
    Case("EnrichmentApplyIsUnstable", {_STARTED: _LIVES_ON}, silent=(4, 5, 6, 12, 30)),
    Case("EnrichmentApplyIsUnstable", {_STARTED: _STARTED_ONCE_MORE}, silent=(20, 23, 26, 31, 35)),
    Case("EnrichmentApplyRewound", {_OFFSET: "100+10x20 50+10x60"}, firing=(12, 20), silent=(10, 28)),
    Case("EnrichmentApplyRewound", {_OFFSET: "100+10x20 300x40"}, silent=(15,)),
    Case("EnrichmentApplyStoreDown", {f"enrichment_apply_store_down{{{_APPLY}}}": "1x30"}, firing=(6,), silent=(4,)),
    Case("EnrichmentApplyStoreDown", {f"enrichment_apply_store_down{{{_APPLY}}}": "0x30"}, silent=(10,)),
    Case("EnrichmentApplyLag", {_LAG: "601x100"}, firing=(31, 45), silent=(29,)),
    Case("EnrichmentApplyLag", {_LAG: "600x100", _JOB_LAG: "900x100"}, silent=(45,)),
    Case("EnrichmentSlotsAreMissing", {"enrichment_slots": "4x10 2x30", **_SLOTS}, firing=(20,), silent=(4, 9)),
    Case("EnrichmentSlotsAreMissing", {"enrichment_slots": "4x40"}, silent=(30,)),
    Case("EnrichmentApplySaturated", {_STORE: "0+28x120", _POLL: "0+2x120"}, firing=(45,), silent=(25,)),
    Case("EnrichmentApplySaturated", {_STORE: "0+26x120", _POLL: "0+4x120"}, silent=(45,)),
    Case("EnrichmentApplyDiverges", {_DIVERGING: "0+11x60", _PROBED: "0+1000x60"}, firing=(5, 20)),
    Case("EnrichmentApplyDiverges", {_DIVERGING: "0+9x60", _PROBED: "0+1000x60"}, silent=(5, 20)),
    Case("EnrichmentApplyDiverges", {_DIVERGING: "0x60", _PROBED: "0x60"}, silent=(20,)),
    Case("EnrichmentApplyIncomplete", {_ORPHANS: "0x20 1x40"}, firing=(13,), silent=(10, 25)),
    Case("EnrichmentApplyIncomplete", {_PREFIXES: "0+3x60", _ORPHANS: "0x60"}, silent=(20,)),
]


def test_each_alert_of_apply_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    groups = {group["name"]: group["rules"] for group in yaml.safe_load(_ALERTS.read_text())["groups"]}
    alerts = {rule["alert"] for rule in groups["apply"]}
    assert alerts <= {case.alert for case in CASES if case.firing}
    assert alerts <= {case.alert for case in CASES if not case.firing}


@pytest.mark.skipif(_PROMTOOL is None, reason="promtool, which comes with Prometheus, is not installed")
@pytest.mark.parametrize("case", CASES, ids=[f"{case.alert}-{number}" for number, case in enumerate(CASES)])
@pytest.mark.starts_process("promtool tests the rules")
def test_it_fires_when_it_should(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "rules_test.yaml"
    file.write_text(case.file())
    tested = subprocess.run([str(_PROMTOOL), "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr
