"""The pages below `docs/reference/` and `docs/incidents/`, each made from the code or the file that it describes:
`python -m reference` writes them all.

    click commands, argparse parsers ─▶ devkit, pipeline, mockapi
    pydantic models, as JSON schemas ─▶ scenario, expectations, configuration
    registries, event classes        ─▶ faults, metrics, log-events, error-types, exit-codes
    scenario files, their stories    ─▶ incidents; the drawings beside them by `python -m reference.plots RUN_DIRECTORY`

A page is one generator, a function that takes nothing and returns Markdown; `reference.pages` lists them. What a page
says of a key, an option or a fault stands with that in the code, so a description is corrected there.
"""
