"""Makes docs/rules.md: which function of the engine implements which field and which function of Kubernetes.

    python -m tools.make_rules

It reads the source, not the modules: every docstring with a line `Upstream:` is a row. The fields of a rule end the paths that it
reports and the paths that it is called with; a variable at the end is followed to the texts that its function or module gives it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "rules.md"
HEAD = """\
# Rules by field and by upstream function

Made by `make rules` from the `Upstream:` lines of the engine's docstrings. Use it to get from a field of the API, or from a
function in the source of Kubernetes, to the function in `strategy/` that implements it. [adding-a-rule.md](adding-a-rule.md) says
how a rule is written.
"""
REPORTING = ("rules", "kinds", "crds", "warn", "admission")
"""Folders whose functions report fields."""
UPSTREAM = re.compile(r"Upstream: (.+?)(?:\n\n|\Z)", re.DOTALL)
LAST_FIELD = re.compile(r"\.([a-z][A-Za-z0-9]*)(?:\[[^\]]*\])?$")


@dataclass
class Rule:
    module: str
    name: str
    upstream: str
    fields: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        name = f".{self.name}" if self.name else ""
        return f"[`{self.module.removeprefix('strategy/').removesuffix('.py')}{name}`](../{self.module})"


Function = ast.FunctionDef | ast.ClassDef
Texts = Mapping[str, set[str]]
"""What a name can stand for at the end of a path."""


def rules() -> list[Rule]:
    """Every docstring with an upstream reference, in the order of the files."""
    found: dict[tuple[str, str], Rule] = {}
    trees = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in sorted((ROOT / "strategy").rglob("*.py"))}
    for module, tree in trees.items():
        for name, node in _documented(tree):
            if match := UPSTREAM.search(ast.get_docstring(node) or ""):
                found[module, name] = Rule(module, name, " ".join(match[1].split()))
    for module, tree in trees.items():
        if module.split("/")[1] in REPORTING:
            _note_fields(module, tree, found)
    return list(found.values())


def _documented(tree: ast.Module) -> Iterator[tuple[str, ast.Module | Function]]:
    yield "", tree
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _note_fields(module: str, tree: ast.Module, found: dict[tuple[str, str], Rule]) -> None:
    """Gives each rule the fields that it reports, and each rule that it calls the fields that it is called for."""
    imported, constants = _imports(tree), _assigned(tree.body, {})
    for name, node in _documented(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for call, texts in _calls(node, constants | _assigned(ast.walk(node), constants)):
            callee = _callee(call, module, imported)
            rule = found.get((module, name)) if callee == ("field", "") else found.get(callee)
            if rule is not None and rule.module.split("/")[1] in REPORTING:
                rule.fields |= {key for argument in call.args for key in _last_fields(argument, texts)}


def _imports(tree: ast.Module) -> dict[str, str]:
    """The modules of the engine that the file names, by the name it gives them."""
    return {
        alias.asname or alias.name: f"{node.module.removeprefix('podstrat.').replace('.', '/')}/{alias.name}.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("podstrat.strategy")
        for alias in node.names
    }


def _callee(call: ast.Call, module: str, imported: dict[str, str]) -> tuple[str, str]:
    """Module and name of the function that is called; ("field", "") for the constructors of errors."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="field")):
            return "field", ""
        case ast.Attribute(value=ast.Name(id=holder), attr=name):
            return imported.get(holder, ""), name
        case ast.Name(id=name) if name in imported:
            # from podstrat.strategy.rules.x import name: the path ends in the function, not in a module
            return imported[name].rpartition("/")[0] + ".py", name
        case ast.Name(id=name):
            return module, name
    return "", ""


def _assigned(nodes: Iterable[ast.AST], known: Texts) -> dict[str, set[str]]:
    """The texts and paths that names are assigned."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value):
                found[name] |= _values(value, known)
    return found


def _calls(node: ast.AST, texts: Texts) -> Iterator[tuple[ast.Call, Texts]]:
    """Every call with the texts that names stand for there: a loop gives its variable those that it goes through."""
    loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", ())
    for loop in loops:
        match loop.target:
            case ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_]):
                texts = {**texts, name: _values(loop.iter, texts)}
    if isinstance(node, ast.Call):
        yield node, texts
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, texts)


def _values(value: ast.expr | None, known: Texts) -> set[str]:
    match value:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr():
            return {_path(value)}
        case ast.Name(id=name):
            return known.get(name, set())
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            # Of a row of several values the first is its name.
            return {text for item in items for text in _values(item.elts[0] if isinstance(item, ast.Tuple) else item, known)}
        case ast.Dict(keys=keys):
            return {text for key in keys for text in _values(key, known)}
        case ast.Call(func=ast.Attribute(value=inner, attr="items")):
            return _values(inner, known)
    return set()


def _path(text: ast.JoinedStr) -> str:
    """An f-string with a NUL in the place of each expression."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in text.values)


def _last_fields(argument: ast.expr, texts: Texts) -> Iterator[str]:
    """The fields at the end of a path; none: it is not a path, or ends in a variable whose texts are not in the source."""
    match argument:
        case ast.Constant(value=str(text)):
            paths = {text}
        case ast.JoinedStr(values=[*_, ast.FormattedValue(value=ast.Name(id=name))]):
            paths = {_path(argument)[:-1] + text for text in texts.get(name, ())}
        case ast.JoinedStr():
            paths = {_path(argument)}
        case ast.Name(id=name):
            paths = texts.get(name, set())
        case _:
            return
    for path in paths:
        if path.startswith(("\0", "spec.", "status.", "metadata.")) and " " not in path and (match := LAST_FIELD.search(path)):
            yield match[1]


def _fields(every: list[Rule]) -> Iterator[str]:
    by_field: dict[str, list[Rule]] = defaultdict(list)
    for rule in every:
        for key in rule.fields:
            by_field[key].append(rule)
    yield "## By field\n\nThe last part of the path in a message: `spec.containers[0].ports[0].hostPort` is under `hostPort`.\n"
    yield "| field | rules |\n|---|---|"
    for key in sorted(by_field, key=lambda key: (key.lower(), key)):
        yield f"| `{key}` | {', '.join(map(str, by_field[key]))} |"


def _functions(every: list[Rule]) -> Iterator[str]:
    yield "\n## By upstream function\n\nAs the docstring names it: a function, a method, or several where one rule joins them.\n"
    yield "| Kubernetes | here |\n|---|---|"
    for rule in sorted(every, key=lambda rule: (rule.upstream.lower(), rule.module, rule.name)):
        text = rule.upstream.replace("|", "\\|")
        yield f"| {text} | {rule} |"


def page() -> str:
    every = rules()
    return "\n".join([HEAD, *_fields(every), *_functions(every), ""])


if __name__ == "__main__":
    FILE.write_text(page())
