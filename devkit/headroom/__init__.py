"""How much time the machine of a run had: measured beside the run, and compared with what its findings need.

    probe.py (a process)  ─▶ ProbeReading ─▶ Monitor ─▶ HeadroomSample ─▶ window.py ─▶ shortage.py
    calibration.py (before the stack starts) ─▶ baseline of the slowdowns, and the run's stretch

The probe counts from when its quantum was due, so both a wait for a core and a slow core show. It has the priority of
all else and is a process, so no lock of the kit delays it. The baseline comes from the fastest parts of many quanta,
each much shorter than a scheduler's slice, so it holds on a busy machine too.

The slowdown over a window is the mean of its quanta's, and not what a mean of the speeds gives: a record waits for a
core in each process that it passes, and meets timeouts that are shorter than a window. (On a machine where a mean of
the speeds showed 2.5 to 4, a fix whose file leaves five times its need broke.) docs/headroom.md has the rest.
"""
