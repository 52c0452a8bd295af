"""All checks by name."""

from devkit.checks.audit import AUDIT
from devkit.checks.base import Check
from devkit.checks.claim_checks import CLAIM_CHECKS
from devkit.checks.drained import DRAINED
from devkit.checks.exception import EXCEPTION
from devkit.checks.past_failed_batch import PAST_FAILED_BATCH
from devkit.checks.replays import REPLAYED_OFFSETS, REPLAYS
from devkit.checks.restarts import RESTARTS

_ALL: tuple[Check, ...] = (
    RESTARTS,
    REPLAYS,
    REPLAYED_OFFSETS,
    EXCEPTION,
    PAST_FAILED_BATCH,
    AUDIT,
    DRAINED,
    CLAIM_CHECKS,
)
CHECKS: dict[str, Check] = {check.name: check for check in _ALL}
