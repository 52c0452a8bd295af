"""Writes the golden files again, from what is said today of each of their inputs."""

from tests.unit.golden.case_file import read_cases, write_cases
from tests.unit.golden.golden_kinds import KINDS

for kind in KINDS:
    write_cases(kind.file, [case.expecting(kind.tried(case)) for case in read_cases(kind.file)])
