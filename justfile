# Each recipe is one call of what does the work. `./justw RECIPE` needs nothing installed; with `just` at hand, `just RECIPE`.

set positional-arguments

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

[private]
default:
    @just --justfile "{{ justfile() }}" --list --unsorted

# what justw installs, for those who come with a just of their own
[private]
ready:
    @./justw --setup scenario

# the same for developers; justw reads here which recipes need it
[private]
everything:
    @./justw --setup

# Play an incident's scenario, with and without the fix: just scenario oversized-message [--stack compose]
[no-cd, no-exit-message]
scenario *args: ready
    @devkit scenario run "$@"

# Random faults on every part under live traffic, then an audit: just soak --seed 7 --for 2m
[no-cd, no-exit-message]
soak *args: ready
    @devkit soak "$@"

# List the scenarios
[no-cd, no-exit-message]
scenarios: ready
    @devkit scenario list

# Write a commented scenario file to begin with: just new my-incident [--from retry-storm]
[no-cd, no-exit-message]
new *args: ready
    @devkit scenario new "$@"

# Check a scenario file without running it
[no-cd, no-exit-message]
check *args: ready
    @devkit scenario check "$@"

# Compare two runs: just compare RUN RUN
[no-cd, no-exit-message]
compare *args: ready
    @devkit compare "$@"

# Bring a stack up and leave it running: just up [--stack compose]
[no-cd, no-exit-message]
up *args: ready
    @devkit up "$@"

# End what `up` started
[no-cd, no-exit-message]
down *args: ready
    @devkit down "$@"

# What is running, and where
[no-cd, no-exit-message]
status *args: ready
    @devkit status "$@"

# The parts that run: process or container, state, address
[no-cd, no-exit-message]
ps *args: ready
    @devkit ps "$@"

# Logs of the running stack's parts
[no-cd, no-exit-message]
logs *args: ready
    @devkit logs "$@"

# Clean up after killed runs, containers included
[no-cd, no-exit-message]
heal *args: ready
    @devkit heal "$@"

# Check this machine
[no-cd, no-exit-message]
doctor *args: ready
    @devkit doctor "$@"

# Remove old runs
[no-cd, no-exit-message]
clean *args: ready
    @devkit clean "$@"

# The mock MediaWiki by itself
[no-cd, no-exit-message]
mock *args: ready
    @python -m mockapi "$@"

# Without arguments the unit tests that a change affects: tests/selection has what each test file ran and read when it
# passed. With `--all`, in CI, and as long as nothing is recorded: all unit tests on all cores, and beside them, in one
# process, one test with real parts for each main path. tests/main_paths.py lists those and says why; all other
# integration tests (each part, fault, limit and way to fail for itself, containers, browser, other clients) are in
# `test-more`, for they take four times as long.
# Run the unit tests that a change affects, all quick tests (--all), or what is named: just test tests/integration/mockapi
[no-exit-message]
test *args: everything
    @if [ "$#" = 0 ] || [ "$*" = --all ]; then python -m tests.selection "$@"; else pytest "$@"; fi

# Of the integration tests, those that the change since the last whole run calls for, and a third of the others, in two
# processes; slow ones and main paths are left out. `--whole` runs all, `--list` only says which.
# Run integration tests near the change: just test-more [--whole]
[no-exit-message]
test-more *args: everything
    @python -m tests.rota "$@"

# Run all tests, slow ones too, and every scenario as one
[no-exit-message]
test-all *args: everything
    @pytest -m "slow or not slow" --hypothesis-profile=thorough tests scenarios "$@"

# Switch each of the pipeline's rules off, and show which test fails: just mutants [--rule 6]
[no-exit-message]
mutants *args: everything
    @python -m tests.mutants "$@"

# Check style and types
lint: everything
    @ruff check
    @ruff format --check
    @mypy

# Run the benchmarks, or one of the engine's by its name: just bench backfill --events 4000 --rounds 1
[no-exit-message]
bench *args: everything
    @python -m benchmarks "$@"

# Exit codes of the scenarios on a free, a busy and a one-core machine, as a table: just verdicts stalled-progress --busy 2
[no-exit-message]
verdicts *args: everything
    @python -m benchmarks.verdicts "$@"

# Build the documentation into site/, and check its links; --serve shows it on loopback and follows changes
[no-exit-message]
docs *args: everything
    @export NO_MKDOCS_2_WARNING=1; if [ "${1:-}" = --serve ]; then shift; mkdocs serve --strict --dev-addr 127.0.0.1:8000 "$@"; else mkdocs build --strict "$@"; fi

# Record the answers of a real MediaWiki again (Debian only), compare the mock with them, write docs/conformance.md
[no-exit-message]
conformance *args: everything
    @python -m tests.conformance.record "$@"

compile := "uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate"
of_ours := "--no-emit-package enrichment-located-config --no-emit-package enrichment-mockapi --no-emit-package enrichment-pipeline --no-emit-package enrichment-devkit"

# Write the lock files again, for maintainers; `just lock --upgrade` takes newer versions
lock *args: everything
    @echo uv | {{ compile }} "$@" - --output-file locks/bootstrap.lock
    @echo setuptools | {{ compile }} "$@" - --output-file locks/build.lock
    @sed -i.old "s/\(\"enrichment-[][a-z-]*==\)[^\"]*/\1$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)/" pyproject.toml mockapi/pyproject.toml pipeline/pyproject.toml
    @rm pyproject.toml.old mockapi/pyproject.toml.old pipeline/pyproject.toml.old
    @printf '%s\n' ./located_config ./mockapi './pipeline[spark]' '.[spark]' | {{ compile }} "$@" {{ of_ours }} --group pyproject.toml:dev - --output-file locks/all.lock
    @printf '%s\n' ./located_config ./mockapi './pipeline[spark]' '.[spark]' | {{ compile }} "$@" {{ of_ours }} --group pyproject.toml:checkout --constraint locks/all.lock - --output-file locks/devkit.lock
    @printf '%s\n' ./located_config './mockapi[pytest]' | {{ compile }} "$@" {{ of_ours }} --constraint locks/all.lock - --output-file locks/mockapi.lock
    @printf '%s\n' ./located_config './pipeline[spark]' | {{ compile }} "$@" {{ of_ours }} --constraint locks/all.lock - --output-file locks/pipeline.lock
    @python -m devkit.jvm.lock
