"""Rules of one fault, as they are written, and the plan they make."""

from typing import Any

from pydantic import ValidationError

from mockapi.control.refusal import problems
from mockapi.plan import Plan
from mockapi.rules.book import plan_for
from mockapi.rules.model import Rule
from mockapi.server.delivery import Delivery


def plan(*dos: dict[str, Any], seed: int = 1, key: str = "28674", attempt: int = 1, age_s: float = 0.0) -> Plan:
    rules = [Rule.model_validate({"name": f"r{n}", "do": do}) for n, do in enumerate(dos)]
    return plan_for(rules, seed=seed, key=key, attempt=attempt, age_s=lambda _: age_s)


def delivery(*dos: dict[str, Any], **at: Any) -> Delivery:
    return plan(*dos, **at).delivery


def problem(do: dict[str, Any], **rule: Any) -> str:
    """What is said of a rule that is wrong; empty for one that is right."""
    try:
        Rule.model_validate({"name": "r", "do": do, **rule})
    except ValidationError as error:
        return str(problems(error, Rule)[0])
    return ""
