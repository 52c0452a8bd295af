from mockapi.upstream.load import Load, UpstreamCounts


def test_it_adds_up() -> None:
    load = Load()
    assert load.counts() == UpstreamCounts()
    for _ in range(3):
        load.queued()
    load.dequeued()
    load.began()
    load.began()
    load.ended(0.5, awaited=False)
    assert load.counts() == UpstreamCounts(busy=1, queued=2, parses=1, abandoned=1, parse_s=0.5, max_queued=3)
    load.ended(0.25, awaited=True)
    assert load.counts() == UpstreamCounts(busy=0, queued=2, parses=2, abandoned=1, parse_s=0.75, max_queued=3)


def test_forgetting_keeps_what_is_so_now() -> None:
    load = Load()
    load.queued()
    load.queued()
    load.dequeued()
    load.began()
    load.began()
    load.ended(0.5, awaited=False)
    load.forget()
    assert load.counts() == UpstreamCounts(busy=1, queued=1, max_queued=1)


def test_a_parse_that_is_stopped_is_no_finished_one() -> None:
    load = Load()
    load.began()
    load.stopped()
    assert load.counts() == UpstreamCounts()
