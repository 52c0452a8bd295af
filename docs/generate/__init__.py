"""The pages below `docs/reference/` and `docs/incidents/`: `python -m docs.generate` writes them all.

    click commands, argparse parsers ─▶ devkit, pipeline, mockapi
    pydantic models, as JSON schemas ─▶ scenario, expectations, configuration
    registries, event classes        ─▶ faults, metrics, log-events, error-types, exit-codes
    scenario files, their stories    ─▶ incidents

A page is one generator, a function without parameters that returns Markdown; `pages.py` lists them. The text of a key,
an option or a fault is the description in the code, so it is corrected there. `python -m docs.generate.plots
RUN_DIRECTORY` draws the plot beside an incident's page.
"""
