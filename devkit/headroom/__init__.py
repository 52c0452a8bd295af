"""How much time the machine of a run had: measured beside the run, and held against what its findings needed.

A verdict such as "no commit within 12 s" says something of a program only where 12 s are far more than the program
needs. `margin` says how many times more a scenario leaves on an idle reference machine. Here stands what tells by how
much a machine was slower than that while an arm was played.

    probe.py (a process)  ─▶ ProbeReading ─▶ Monitor ─▶ HeadroomSample ─▶ window.py ─▶ shortage.py
    calibration.py (before the stack starts) ─▶ baseline of the slowdowns, and the run's stretch

**What is timed.** A few times a second a process of its own does a fixed quantum of work, and the time counts from the
moment at which it meant to begin. So both ways in which a machine can be short show: waiting for a core, which a
process that is woken pays once and again whenever its slice is over, and a slow core (heat, a shared core, another
virtual machine). A heartbeat that only sleeps hardly sees the first and never the second. It has the priority of
everything else, and is a process and not a thread, so the kit's own work delays it by no lock.

**What it is compared with.** The slowdown is against the quantum as a free core does it. That figure must not come
from a machine that is busy while it is taken, so there are four guards. It is taken from the fastest parts of many
quanta, each part much shorter than a scheduler's slice: however many processes wait, most parts are not interrupted.
What slows all parts (a slow core) is no such thing, so the fastest figure that this machine ever showed is kept by
processor model in the user's cache, and the smaller of the two counts. The reference machine's figure bounds both: a
machine that is slower than the one the margins were measured on is slow from the start. And where none of that shows
it, but tasks waited for a core while the calibration ran (pressure stall information), the result says so.

**What follows.** The slowdown over a window is the mean of its quanta's. A mean of the speeds would be kinder, and is
what a long computation sees; but a record is handed from process to process, waits for a core at each, and meets
timeouts that are much shorter than a window. So a single long stall counts for what it was. (On a machine on which that
kinder mean said 2.5 to 4, a fix whose file leaves five times its need was seen to break.) A machine is short of time
over a window when the mean is more than the margin times the run's stretch.

**What it is not.** Beside many busy processes the quantum waits longer than its share of the cores alone would have
it, as it is woken for each; so is the program under test, which hands every record from process to process. The
program's own work counts as well: a machine is no less short when its load is the run's. On a processor that lowers
its frequency while idle a quantum takes up to three times as long without other load, which the margin bears.
"""
