"""A start without deferral of a job that has deferred: nothing would process what its ledger holds. Those events are
committed, so they would be lost, and with deferral again they would leave behind later ones of their pages.
"""

from pipeline.deferral.fold import fold
from pipeline.deferral.ledger_log import LedgerLog
from pipeline.deferral.ledger_start import LedgerMark, LedgerStart, LedgerWish
from pipeline.deferral.topic import LedgerTopic, items_of
from pipeline.errors import RefusedError


def require_nothing_deferred(topic: LedgerTopic, wish: LedgerWish | None) -> LedgerMark | None:
    """`topic` is that of the checkpoint's ledger, and closed afterwards. Returns what the checkpoint has to know of it
    from now on, None where nothing has changed.

    Raises RefusedError while it holds deferred events that the operator does not discard, PipelineError where it cannot
    be read.
    """
    if wish == "discard":
        log = LedgerLog(topic)
        log.begin(LedgerStart(missing="make", entries="discard"))
        topic.close()
        return log.mark
    topic.open()
    deferred = len(fold(items_of(topic.read())).deferred)
    topic.close()
    if deferred:
        raise RefusedError(
            f"ledger topic {topic.topic} holds {deferred} deferred events, which no job with deferral.policy: none "
            "processes",
            hint="start with deferral.policy: defer until `deferred list` shows none; --discard-ledger gives them up",
        )
    return None
