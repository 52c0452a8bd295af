"""The keys of the configuration of `python -m pipeline apply`."""

from docs.generate.key_tables import key_sections
from docs.generate.keys import sections
from docs.generate.markdown import code, page, table
from pipeline.config.apply_config import ApplyConfig
from pipeline.config.unsafe import UNSAFE_OF_APPLY

_INTRODUCTION = """\
The YAML file that `python -m pipeline apply --config FILE` reads. The sections `kafka`, `claim_check` and `metrics` are
those of [a job's configuration](configuration.md). An unknown key is refused with its line and the near miss.
Durations and shares are written [as everywhere](../quantities.md). A key marked — has no default and may be omitted;
its description says what happens then."""

_UNSAFE = """\
## Unsafe settings {#unsafe}

Each of these exists because an incident had it. `python -m pipeline apply` refuses it without `--allow-unsafe`."""

ELSEWHERE = {name: f"[{name}](configuration.md#{name})" for name in ("kafka", "claim_check", "metrics")}
"""Sections that another page describes."""


def apply_configuration() -> str:
    """Every key, section by section, and the settings that are unsafe."""
    keys = key_sections(sections(ApplyConfig, elsewhere=ELSEWHERE), top="Top level", with_examples=False)
    unsafe = table(("setting", "what comes of it"), [(code(policy.text), policy.effect) for policy in UNSAFE_OF_APPLY])
    return page("Configuration of apply", _INTRODUCTION, keys, _UNSAFE, unsafe)
