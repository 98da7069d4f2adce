"""Match conditions: expressions in CEL about a request. The library is imported when the first one is met."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from apiserver.admission.refusals import Internal

VARIABLES = ("object", "oldObject", "request")
LIBRARY = ("cel_expr_python.cel", "cel_expr_python.ext.ext_optional", "cel_expr_python.ext.ext_strings")
KEPT = 1000
"""How many expressions are kept ready."""

_NO_KEY = re.compile(r'NOT_FOUND: Key not found in map : "(.*)"')


class Fault(Exception):
    """An expression that has no answer for this request; the text is the server's."""


def holds(expression: str, variables: Mapping[str, Any]) -> bool:
    """Whether an expression is true of a request."""
    program = _compiled(expression)
    if isinstance(program, str):
        raise Fault(f"compilation error: {program}")
    try:
        result = program.eval(data=variables).value()
    except RuntimeError as error:
        # The library gives up after ten thousand steps; the server has a budget of its own.
        result = error
    if isinstance(result, bool):
        return result
    text = str(result)
    if found := _NO_KEY.fullmatch(text):
        text = f"no such key: {found[1]}"
    raise Fault(f"expression '{expression}' resulted in error: {text}")


@lru_cache(KEPT)
def _compiled(expression: str) -> Any:
    """The expression ready to run; or, as text, what is wrong with it."""
    try:
        program = _environment().compile(expression)
        return program if program.return_type().name() == "BOOL" else "must evaluate to bool"
    except RuntimeError as error:
        text = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        return f"compilation failed: {text}"


@cache
def _environment() -> Any:
    try:
        cel, optional, strings = map(importlib.import_module, LIBRARY)
    except ModuleNotFoundError:
        text = "a webhook has matchConditions, and the package cel-expr-python, which reads them, is missing"
        raise Internal(f"{text}: pip install 'podstrat[serve]'") from None
    variables = dict.fromkeys(VARIABLES, cel.Type.DYN)
    return cel.NewEnv(variables=variables, extensions=[optional.ExtOptional(), strings.ExtStrings()])
