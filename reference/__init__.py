"""The pages below `docs/reference/`, each made from the code that it describes: `python -m reference` writes them all.

    click commands, argparse parsers ─▶ devkit, pipeline, mockapi
    pydantic models, as JSON schemas ─▶ scenario, expectations, configuration
    registries, event classes        ─▶ faults, metrics, log-events, error-types, exit-codes

A page is one generator, a function that takes nothing and returns Markdown; `reference.pages` lists them. What a page
says of a key, an option or a fault stands with that in the code, so a description is corrected there.
"""
