"""The keys of a pipeline's configuration."""

from docs.generate.key_tables import key_sections
from docs.generate.keys import sections
from docs.generate.markdown import code, page, table
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.unsafe import UNSAFE

_INTRODUCTION = """\
The YAML file that `python -m pipeline run --config FILE` reads; in a scenario it stands under `pipeline` and `arms`.
An unknown key is refused with its line and the near miss; for editors there is a JSON schema,
`pipeline/pipeline.schema.json`. Durations, sizes and shares are written [as everywhere](../quantities.md). A key
marked — has no default and may be omitted; its description says what happens then."""

_UNSAFE = """\
## Unsafe settings {#unsafe}

Each of these exists because an incident had it. `python -m pipeline run` refuses it without `--allow-unsafe`; a
scenario may use it."""


def configuration() -> str:
    """Every key, section by section, and the settings that are unsafe."""
    unsafe = table(("setting", "what comes of it"), [(code(one.text), one.effect) for one in UNSAFE])
    found = sections(PipelineConfig)
    return page(
        "Configuration", _INTRODUCTION, key_sections(found, top="Top level", with_examples=False), _UNSAFE, unsafe
    )
