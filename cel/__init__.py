"""CEL as Kubernetes has it: expressions compiled with the API server's words and evaluated within a bound of steps.

    environment = Environment({"object": DYN, "request": Type("Request")}, {"Request": {"name": STRING}})
    program = environment.compile("object.spec.replicas <= 5")   # CompileError: ERROR: <input>:1:1: …
    program.type                                                 # Type("bool")
    program.evaluate({"object": {...}, "request": {...}})        # True; EvaluationError: no such key: replicas

Types have the notation of `types.parse`: `map(string, list(int))`. An object type is a mapping of its fields to their types; its
values are dicts. The parser and RE2 come from the package cel-expr-python, imported with the first expression; checker and
interpreter are our own, because the server's words for errors, objects without a protobuf descriptor, and functions such as
quantity() are not to be had from it.
"""

from podstrat.cel.environment import PER_CALL_LIMIT, Environment, Program
from podstrat.cel.errors import CelError, CompileError, EvaluationError, MissingLibrary, OutOfBudget
from podstrat.cel.folds import Budget
from podstrat.cel.types import BOOL, DYN, INT, STRING, Fields, Type, list_of, map_of, optional_of
from podstrat.cel.values import LazyMap, Optional, StructValue

__all__ = [
    "BOOL",
    "DYN",
    "INT",
    "PER_CALL_LIMIT",
    "STRING",
    "Budget",
    "CelError",
    "CompileError",
    "Environment",
    "EvaluationError",
    "Fields",
    "LazyMap",
    "MissingLibrary",
    "Optional",
    "OutOfBudget",
    "Program",
    "StructValue",
    "Type",
    "list_of",
    "map_of",
    "optional_of",
]
