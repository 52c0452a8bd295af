"""What a Python file is made of, for the comparison of two versions of it; comments and line numbers are no part."""

import ast
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Source:
    """A version of a file."""

    functions: dict[str, int] = field(default_factory=dict)
    """Checksums of the bodies, by qualified name."""
    statements: dict[str, int] = field(default_factory=dict)
    """Checksums of all else that runs at import, by the name at the top of the module that it binds, or ""."""
    uses: dict[str, list[str]] = field(default_factory=dict)
    """The dotted names that those statements use."""
    imports: list[str] = field(default_factory=list)
    """All that the file imports, also inside of functions, as `module.name` or `module`."""


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """The outermost functions and the methods, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield prefix + child.name, child
        elif isinstance(child, ast.stmt | ast.excepthandler):
            yield from functions(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)


def function_lines(text: str) -> dict[int, str]:
    """The qualified name of the function whose body a line is in."""
    return {
        line: name
        for name, node in functions(ast.parse(text))
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    }


def read_source(text: str, module: str, *, is_package: bool) -> Source:
    """Takes a file apart; `module` is its dotted name."""
    tree = ast.parse(text)
    source = Source()
    pairs = list(_imports(tree, module if is_package else module.rpartition(".")[0]))
    imported = dict(pairs)
    source.imports = sorted({dotted for _, dotted in pairs})
    for name, node in list(functions(tree)):
        body = ast.dump(ast.Module(node.body, []))
        source.functions[name] = zlib.crc32(body.encode(), source.functions.get(name, 0))
        node.body = []
    for statement in tree.body:
        checksum = zlib.crc32(ast.dump(statement).encode())
        uses = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        dotted = [imported.get(name, f"{module}.{name}") for name in uses]
        for name in _bound(statement) or [""]:
            source.statements[name] = zlib.crc32(b"%d" % checksum, source.statements.get(name, 0))
            is_import = isinstance(statement, ast.Import | ast.ImportFrom)
            source.uses.setdefault(name, []).extend([imported[name]] if is_import else dotted)
    source.uses = {name: sorted(set(used)) for name, used in source.uses.items()}
    return source


def _imports(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            for alias in node.names:
                yield alias.asname or alias.name, ".".join([*above, *filter(None, [node.module]), alias.name])


def _bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        case ast.Assign() | ast.AnnAssign():
            return [
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ]
    return []
