"""Faults on the parts of a stack: a broker that is paused, a store that is killed, a topic that grows.

    scenario `timeline:` ──▶ Runner ──begin──▶ Fault ──levers, admin calls──▶ part
    `devkit fault add`   ──▶   │                 │
                               │ renews          │ writes before it acts
                               ▼                 ▼
                             lease ◀── Journal on disk ──▶ undone by the guardian, or by `devkit heal`

**To add a fault**, write one file with a subclass of `Fault` and one line in `registry.py` (another package calls
`register`). The class is the parameter model: its fields are the parameters behind its name in `do:`. It says

- `needs()`: which parts and levers it uses, asked before anything starts;
- `begin(context)`: does it, and returns an `Acting` whose `end()` undoes it and proves that it acted;
- `undo(undo)`: ends it with nothing but the `Undo` that `begin` gave to `context.plan` before it acted.
"""

from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.registry import FAULTS, register

__all__ = ["FAULTS", "Acting", "Context", "Fault", "Need", "Proof", "Undo", "register"]
