"""`python -m tests.mutants`: switch each rule off, and show which test says so. Exit 0 when all are caught, else 1.

`--list` shows what there is; `--rule N` tries one rule's; `--no-baseline` trusts that the plain tree passes.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from tests.mutants.model import Mutant
from tests.mutants.registry import MUTANTS, RULES
from tests.mutants.tree import Tree
from tests.mutants.trial import Trial, Verdict, judge, run_tests

_REPOSITORY = Path(__file__).parents[2]
_LAST_LINES = 40


@click.command()
@click.option("--rule", "rules", type=click.IntRange(1, len(RULES)), multiple=True, help="This rule's mutants alone.")
@click.option("--list", "only_list", is_flag=True, help="Show the mutants, and run nothing.")
@click.option("--baseline/--no-baseline", default=True, help="Run the tests in the plain tree first.")
@click.option("--keep", is_flag=True, help="Print what pytest said of each mutant that is not caught.")
def main(rules: Sequence[int], *, only_list: bool, baseline: bool, keep: bool) -> None:
    """Switch the pipeline's rules off, one by one, and show the test that catches it."""
    wanted = [mutant for mutant in MUTANTS if not rules or mutant.rule in rules]
    if only_list:
        for mutant in wanted:
            click.echo(f"{mutant.rule:2}  {RULES[mutant.rule]}\n      {mutant.what}\n      {mutant.test}")
        return
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        tree = Tree(_REPOSITORY, Path(directory) / "work")
        if baseline:
            passes(tree, wanted)
        verdicts = []
        for mutant in wanted:
            verdict, trial = attempt(tree, mutant)
            verdicts.append(verdict)
            click.echo(row(verdict))
            if keep and not verdict.caught:
                click.echo("\n".join(trial.output.splitlines()[-_LAST_LINES:]))
    asked = sorted(set(rules) or RULES)
    caught = [rule for rule in asked if is_caught(rule, verdicts)]
    click.echo(f"\n{sum(verdict.caught for verdict in verdicts)} of {len(verdicts)} mutants caught")
    click.echo(f"{len(caught)} of {len(asked)}")
    sys.exit(0 if caught == asked else 1)


def passes(tree: Tree, mutants: Sequence[Mutant]) -> None:
    """Run the mutants' tests in the plain tree; exits when not all of them pass."""
    tests = sorted({mutant.test for mutant in mutants})
    trial = run_tests(tree.root, tests, tree.environment(), timeout_s=3600)
    failed = [test for test in tests if trial.of(test)[0] != "passed"]
    if failed:
        click.echo(trial.output, err=True)
        click.echo(f"the plain tree does not pass: {', '.join(failed)}", err=True)
        sys.exit(1)
    click.echo(f"plain tree: {len(tests)} tests pass ({trial.seconds:.0f} s)\n")


def attempt(tree: Tree, mutant: Mutant) -> tuple[Verdict, Trial]:
    """Edit the tree, run the mutant's test, and undo it."""
    mutant.apply(tree.root)
    tree.watch(replacement.path for replacement in mutant.replacements)
    try:
        trial = run_tests(tree.root, [mutant.test], tree.environment())
        return judge(mutant, trial, tree.loaded_in()), trial
    finally:
        tree.restore()


def is_caught(rule: int, verdicts: Sequence[Verdict]) -> bool:
    """Whether the rule has mutants, and all of them were caught."""
    own = [verdict.caught for verdict in verdicts if verdict.mutant.rule == rule]
    return bool(own) and all(own)


def row(verdict: Verdict) -> str:
    """What there is to say of one mutant."""
    mutant = verdict.mutant
    lines = [
        f"{mutant.rule:2}  {RULES[mutant.rule]}",
        f"    off        {mutant.what}",
        f"    {'caught by ' if verdict.caught else 'NOT CAUGHT'} {mutant.test}",
        f"    saying     {verdict.message}",
        f"    after      {verdict.seconds:.0f} s; the changed code was loaded in: "
        f"{', '.join(sorted(verdict.loaded_in)) or 'no process'}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
