"""The texts below the fields of a class, which Python itself does not keep."""

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docs(described: type) -> dict[str, str]:
    """By the name of the field, those of its base classes too; what has no text is absent."""
    found: dict[str, str] = {}
    for one in reversed(described.__mro__):
        if one.__module__.partition(".")[0] in {"builtins", "pydantic", "typing"}:
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        if not isinstance(tree, ast.ClassDef):
            continue
        for field, text in pairwise(tree.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                    found[name] = inspect.cleandoc(doc)
    return found
