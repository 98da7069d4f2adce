"""Parser: expression text to a syntax tree, by the CEL library (cel-expr-python), which is imported when the first text is met.

The library's grammar and its words for syntax errors are cel-go's. It nests no deeper than 32, where the API server takes 250:
longer sums are parsed by their terms.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import Any

from podstrat.cel import sums
from podstrat.cel.errors import CompileError, MissingLibrary
from podstrat.cel.syntax import Tree, read

MACROS = ("optional", "two-var-comprehensions", "lists")
"""Extensions that bring macros: optMap, all() with two variables, sortBy."""


_TOO_DEEP = re.compile("recursion", re.IGNORECASE)
BINDINGS = "bindings"
"""The extension that brings cel.bind()."""


def parse(text: str, *macros: str) -> Tree:
    """The syntax tree of an expression, macros expanded: those of every environment and those of more extensions."""
    try:
        return _parse(text, *macros)
    except RuntimeError as error:
        message = _message(str(error))
        if _TOO_DEEP.search(message):
            with suppress(RuntimeError):
                if (tree := sums.parse(text, lambda term: _parse(term, *macros))) is not None:
                    return tree
        # The server has no place for what an empty text lacks.
        raise CompileError(message if text else message.replace("<input>:1:1:", "<input>:1:0:")) from None


def _parse(text: str, *macros: str) -> Tree:
    return read(environment(*MACROS, *macros).compile(text, disable_check=True).serialize())


@cache
def environment(*extensions: str) -> Any:
    """An environment of the library with the extensions of these names."""
    try:
        from cel_expr_python import cel
    except ImportError:
        raise MissingLibrary from None
    names = "".join(f"- name: {name}\n" for name in extensions or MACROS)
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(f"name: kubernetes\nextensions:\n{names}"))


def _message(text: str) -> str:
    """The library's message without its status code."""
    text = text.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    if text.startswith("CANCELLED"):
        return "ERROR: <input>:-1:0: expression recursion limit exceeded: 32"
    for pattern, words in _MACRO_FAULTS:
        text = pattern.sub(words, text)
    return text.replace("<input>:4294967295:", "<input>:-1:")


_MACRO_FAULTS = (
    (re.compile(r"has\(\) argument must be a field selection"), "invalid argument to has() macro"),
    (re.compile(r"\b(map|filter)\(\) variable name must be a simple identifier"), "argument is not an identifier"),
    (re.compile(r"\b\w+\(\) variable name must be a simple identifier"), "argument must be a simple name"),
)
"""Faults of macros in the library's words and in cel-go's."""
