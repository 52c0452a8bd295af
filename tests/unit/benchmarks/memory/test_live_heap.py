from benchmarks.memory.live_heap import live_bytes

HISTOGRAM = """\
 num     #instances         #bytes  class name (module)
-------------------------------------------------------
   1:        122361       46013112  [B (java.base@25.0.2)
   2:          7119        9160480  [Ljdk.internal.vm.FillerElement; (java.base@25.0.2)
   3:           118           2840  org.apache.spark.Thing
Total        129598       55176432
"""
OTHER = HISTOGRAM.replace("46013112", "46013113").replace("55176432", "55176433")


def test_what_is_live_is_all_but_what_fills_gaps() -> None:
    assert live_bytes(HISTOGRAM) == [46_013_112 + 2_840]


def test_each_histogram_among_other_output_counts_by_itself() -> None:
    printed = f'{{"event": "batch_written"}}\n{HISTOGRAM}\nFull thread dump\n{OTHER}'
    assert live_bytes(printed) == [46_015_952, 46_015_953]


def test_one_that_is_not_whole_yet_does_not_count() -> None:
    assert live_bytes(HISTOGRAM + OTHER.partition("Total")[0]) == [46_015_952]
    assert live_bytes("") == []
