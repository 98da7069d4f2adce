"""Every regular expression of the project, with the methods it is used by: found in the source, and compiled as the modules do.

    python -m tests.growth.patterns        prints them as JSON, one a line

A call of ``re.compile`` or of its like has its pattern written out or names a constant, or it is made at the top of a module,
where importing the module shows it. Anything else has its patterns in OTHERS, or is named.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "podstrat"
FUNCTIONS = ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
METHODS = FUNCTIONS[1:]
OTHERS = {
    "re.search(pattern, finding.message)": lambda module: [pattern for pattern, _ in module._HINTS],
    "re.sub(allowed, '-', value.lower())": lambda module: ["[^a-z0-9-]+", "[^a-z0-9.-]+"],
    # What the user of --ignore-filename-pattern writes, tried on the names of the user's own files.
    "re.compile(text)": lambda module: [],
    # What a definition says of its own objects; where Python could take long, RE2 matches instead.
    "re.compile(text, re.ASCII)": lambda module: [],
    # Made at the top of the module by a function.
    "re.compile(text, re.ASCII | flags)": lambda module: [
        check.__closure__[0].cell_contents.pattern for check in _checks(module)
    ],
}
"""The patterns of calls that choose one."""


def _checks(module: Any) -> list[Any]:
    """The checks of strings that are one pattern."""
    return [
        each for each in module._CHECKS.values() if each.__closure__ and hasattr(each.__closure__[0].cell_contents, "pattern")
    ]


class Found(NamedTuple):
    path: str
    line: int
    pattern: str
    flags: int
    binary: bool
    methods: tuple[str, ...]


def files() -> Iterator[tuple[str, Path]]:
    """The modules of the package by their names, real files and those behind links."""
    for folder in (PACKAGE, *(each for each in PACKAGE.iterdir() if each.is_symlink())):
        for file in sorted(folder.rglob("*.py")):
            name = ".".join(("podstrat", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
            yield name, file.resolve()


def recorded() -> dict[tuple[str, int], re.Pattern[Any]]:
    """What importing all modules compiles, by file and line."""
    made: dict[tuple[str, int], re.Pattern[Any]] = {}
    true_compile = re.compile

    def compile_and_note(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        frame = sys._getframe(1)
        compiled = true_compile(pattern, flags)
        made[str(Path(frame.f_code.co_filename).resolve()), frame.f_lineno] = compiled
        return compiled

    re.compile = compile_and_note  # type: ignore[assignment]
    try:
        for name, _ in files():
            if not name.endswith("__main__"):
                importlib.import_module(name)
    finally:
        re.compile = true_compile  # type: ignore[assignment]
    return made


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.AST | None, bool]]:
    """Calls of re's functions, each with the node around it, and whether it is at the top of its module."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS:
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
                around, top = parents.get(node), True
                outer: ast.AST | None = node
                while outer is not None:
                    top = top and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                    outer = parents.get(outer)
                yield node, around, top


def methods(call: ast.Call, around: ast.AST | None, source: str) -> tuple[str, ...]:
    """How a pattern is used: by the function itself, by the method that is taken of it, or by those of the name that it gets."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name != "compile":
        return (name,)
    if isinstance(around, ast.Attribute):
        return (around.attr,)
    if isinstance(around, (ast.Assign, ast.AnnAssign)):
        target = around.targets[0] if isinstance(around, ast.Assign) else around.target
        used = re.findall(rf"\b{re.escape(ast.unparse(target))}\.({'|'.join(METHODS)})\b", source)
        if used:
            return tuple(sorted(set(used)))
    return ("search",)


def listed() -> tuple[list[Found], list[str]]:
    """All patterns, and the calls of which the pattern cannot be seen."""
    made = recorded()
    found: list[Found] = []
    hidden: list[str] = []
    for name, file in files():
        source = file.read_text()
        for call, around, top in calls(ast.parse(source)):
            where = str(file.relative_to(ROOT)), call.lineno
            compiled = next(
                (made[str(file), line] for line in range(call.lineno, (call.end_lineno or 0) + 1) if (str(file), line) in made),
                None,
            )
            if compiled is None or not top:
                texts = _written(call, importlib.import_module(name))
                if texts is None:
                    hidden.append(f"{where[0]}:{where[1]}: {ast.unparse(call)}")
                    continue
                several = [re.compile(text, _flags(call)) for text in texts]
            else:
                several = [compiled]
            for each in several:
                binary = isinstance(each.pattern, bytes)
                pattern = each.pattern.decode("latin-1") if binary else each.pattern
                flags = each.flags & ~re.UNICODE.value
                found.append(Found(*where, pattern, flags, binary, methods(call, around, source)))
    return found, hidden


def _written(call: ast.Call, module: Any) -> list[Any] | None:
    """The pattern of a call: a literal, a constant of its module, or what OTHERS has; None if it is none of these."""
    first = call.args[0]
    if ast.unparse(call) in OTHERS:
        return OTHERS[ast.unparse(call)](module)
    if isinstance(first, ast.Name) and isinstance(getattr(module, first.id, None), (str, bytes)):
        return [getattr(module, first.id)]
    if isinstance(first, ast.Attribute) and isinstance(first.value, ast.Name):
        homes = [other for name, other in sys.modules.items() if re.fullmatch(rf"podstrat\.(?:.*\.)?{first.value.id}", name)]
        texts = [getattr(home, first.attr) for home in homes if isinstance(getattr(home, first.attr, None), (str, bytes))]
        return texts or None
    try:
        return [ast.literal_eval(first)]
    except ValueError:
        return None


def _flags(call: ast.Call) -> int:
    given = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "flags")]
    text = ast.unparse(given[-1]) if given else "0"
    # A function that is given flags is given none here: they change what matches, not how long it takes.
    return int(eval(text, {"re": re, "flags": 0})) if "re." in text else 0


if __name__ == "__main__":
    found, hidden = listed()
    print(json.dumps({"found": found, "hidden": hidden}))
