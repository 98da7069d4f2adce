"""Expressions of admission policies: which variables each may use, and its compilation, done once for each text.

Upstream: k8s.io/apiserver/pkg/admission/plugin/cel
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

from podstrat import cel
from podstrat.cel import types
from podstrat.cel.library.mutation import JSON_PATCH, OBJECT, ObjectTypes
from podstrat.cel.types import BOOL, DYN, NULL, STRING, Type
from podstrat.records import NamedTuple

KEPT = 2048
"""How many compiled expressions are kept; longer ones than KEPT_LENGTH are compiled each time."""
KEPT_LENGTH = 4096  # characters: what people write; a kept one holds its syntax tree
_PREFIX = "kubernetes."


def _fields(**notations: str) -> dict[str, Type]:
    return {name.rstrip("_"): types.parse(notation) for name, notation in notations.items()}


TYPES = MappingProxyType(
    {
        f"{_PREFIX}AdmissionRequest": _fields(
            kind="kubernetes.GroupVersionKind",
            resource="kubernetes.GroupVersionResource",
            subResource="string",
            requestKind="kubernetes.GroupVersionKind",
            requestResource="kubernetes.GroupVersionResource",
            requestSubResource="string",
            name="string",
            namespace="string",
            operation="string",
            userInfo="kubernetes.UserInfo",
            dryRun="bool",
            options="dyn",
        ),
        f"{_PREFIX}GroupVersionKind": _fields(group="string", version="string", kind="string"),
        f"{_PREFIX}GroupVersionResource": _fields(group="string", version="string", resource="string"),
        f"{_PREFIX}UserInfo": _fields(username="string", uid="string", groups="list(string)", extra="map(string, list(string))"),
        f"{_PREFIX}Namespace": _fields(
            metadata="kubernetes.NamespaceMetadata", spec="kubernetes.NamespaceSpec", status="kubernetes.NamespaceStatus"
        ),
        f"{_PREFIX}NamespaceMetadata": _fields(
            name="string",
            generateName="string",
            namespace="string",
            labels="map(string, string)",
            annotations="map(string, string)",
            UID="string",
            creationTimestamp="timestamp",
            deletionGracePeriodSeconds="int",
            deletionTimestamp="timestamp",
            generation="int",
            resourceVersion="string",
            finalizers="list(string)",
        ),
        f"{_PREFIX}NamespaceSpec": _fields(finalizers="list(string)"),
        f"{_PREFIX}NamespaceStatus": _fields(conditions="list(kubernetes.NamespaceCondition)", phase="string"),
        f"{_PREFIX}NamespaceCondition": _fields(
            status="string", type="string", lastTransitionTime="timestamp", message="string", reason="string"
        ),
    }
)
"""Types of `request` and `namespaceObject`; the objects themselves are dyn."""


class Use(NamedTuple):
    """What an expression is for: what it may evaluate to, and which variables it has beside those of all."""

    results: tuple[Type, ...]
    """None for any type."""
    authorizer: bool = True
    variables: bool = True
    """Whether it sees the policy's variables."""
    mutation: bool = False


VALIDATION = Use((BOOL, DYN))
CONDITION = Use((BOOL, DYN), variables=False)
MESSAGE = Use((STRING,), authorizer=False)
ANNOTATION = Use((STRING, NULL))
VARIABLE = Use(())
APPLY_CONFIGURATION = Use((OBJECT,), mutation=True)
JSON_PATCHES = Use((types.list_of(JSON_PATCH),), mutation=True)

Variables = tuple[tuple[str, Type], ...]
"""Names and types of the variables of a policy that stand before an expression."""


def compiled(text: str, use: Use, params: bool, variables: Variables = (), mutates: bool = False) -> cel.Program:
    """The expression ready to evaluate; CompileError with the server's text if it is wrong."""
    compile = _compiled if len(text) <= KEPT_LENGTH else _compiled.__wrapped__
    program = compile(text, use, params, variables if use.variables else (), mutates)
    if isinstance(program, str):
        raise cel.CompileError(program)
    return program


@lru_cache(KEPT)
def _compiled(text: str, use: Use, params: bool, variables: Variables, mutates: bool) -> cel.Program | str:
    try:
        program = _environment(params, use.authorizer, variables, use.mutation or mutates).compile(text)
    except cel.CompileError as error:
        return f"compilation failed: {error}"
    if not use.results or program.type in use.results:
        return program
    notations = [result.notation for result in use.results if result != DYN]
    if len(notations) == 1:
        return f"must evaluate to {notations[0]} but got {program.type.notation}"
    return f"must evaluate to one of [{' '.join(notations)}] but got {program.type.notation}"


@lru_cache(KEPT)
def _environment(params: bool, authorizer: bool, variables: Variables, mutation: bool) -> cel.Environment:
    declared: dict[str, Type] = {
        "object": DYN,
        "oldObject": DYN,
        "request": Type(f"{_PREFIX}AdmissionRequest"),
        "namespaceObject": Type(f"{_PREFIX}Namespace"),
    }
    objects = dict(TYPES)
    if params:
        declared["params"] = DYN
    if authorizer:
        declared["authorizer"] = Type(f"{_PREFIX}authorization.Authorizer")
        declared["authorizer.requestResource"] = Type(f"{_PREFIX}authorization.ResourceCheck")
    if variables:
        declared["variables"] = Type(f"{_PREFIX}variables")
        objects[f"{_PREFIX}variables"] = dict(variables)
    if mutation:
        return cel.Environment(declared, ObjectTypes(objects), "mutation")
    return cel.Environment(declared, objects)
