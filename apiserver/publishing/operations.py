"""The paths of an OpenAPI document: operations and parameters of each served kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from podstrat.apiserver import subresources
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import Kind
from podstrat.strategy.patch import media_types

Object = dict[str, Any]
Ref = Callable[[str], Object]

PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
BODIES: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
ANSWER: Final = "application/json"

_LISTED: Final = "allowWatchBookmarks continue fieldSelector labelSelector limit resourceVersion resourceVersionMatch "
_LIST: Final = (_LISTED + "sendInitialEvents timeoutSeconds watch").split()
_WRITE: Final = ("dryRun", "fieldManager", "fieldValidation")
_DELETE: Final = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_WHOLE: Final = frozenset(("gracePeriodSeconds", "limit", "timeoutSeconds"))
_YES_OR_NO: Final = frozenset(("allowWatchBookmarks", "force", "orphanDependents", "sendInitialEvents", "watch"))


class _Verb(NamedTuple):
    """A verb on a path: its HTTP method, what its operation id begins with, its action, parameters, request body, and codes."""

    method: str
    word: str
    action: str
    parameters: Iterable[str]
    body: str
    codes: tuple[int, ...]


_VERBS: Final = {
    "get": _Verb("get", "read", "get", (), "", (200,)),
    "list": _Verb("get", "list", "list", _LIST, "", (200,)),
    "create": _Verb("post", "create", "post", _WRITE, "object", (200, 201, 202)),
    "update": _Verb("put", "replace", "put", _WRITE, "object", (200, 201)),
    "patch": _Verb("patch", "patch", "patch", (*_WRITE, "force"), "patch", (200, 201)),
    "delete": _Verb("delete", "delete", "delete", _DELETE, "options", (200, 202)),
    "deletecollection": _Verb("delete", "delete", "deletecollection", (*_LIST, *_DELETE), "options", (200,)),
}
_ON_COLLECTIONS: Final = ("create", "list", "deletecollection")


class _Place(NamedTuple):
    """A path, the kind that is sent and answered there, and what operation ids there are made of."""

    path: str
    verbs: tuple[str, ...]
    group: str
    version: str
    kind: str
    type_name: str
    owner: str
    noun: str
    of_list: str = ""
    patches: tuple[str, ...] = PATCHES


def paths(kinds: Iterable[Kind], ref: Ref) -> Object:
    """The paths of some kinds. ``ref`` gives the reference to a type's schema."""
    items = {place.path: _item(place, ref) for kind in kinds for place in _patched(kind)}
    return dict(sorted(items.items()))


def _patched(kind: Kind) -> Iterator[_Place]:
    """The paths of a kind with the patches that they take: fewer for custom resources, and kubectl apply looks at that."""
    patches = tuple(each for each in PATCHES if not isinstance(kind, CustomKind) or each in media_types.CUSTOM_PATCHES)
    return (place._replace(patches=patches) for place in _places(kind))


def _places(kind: Kind) -> Iterator[_Place]:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    words = kind.group.split(".") if isinstance(kind, CustomKind) else [kind.group.partition(".")[0] or "core"]
    owner = "".join(word.capitalize() for word in (*words, kind.version))
    own = (kind.group, kind.version, kind.kind, kind.type_name)
    of_list = f"{kind.type_name}List"
    collection = f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    noun = f"{'Namespaced' if kind.namespaced else ''}{kind.kind}"
    yield _Place(collection, tuple(verb for verb in _ON_COLLECTIONS if verb in kind.verbs), *own, owner, noun, of_list)
    if kind.namespaced and "list" in kind.verbs:
        yield _Place(f"{root}/{kind.plural}", ("list",), *own, owner, f"{kind.kind}ForAllNamespaces", of_list)
    on_one = tuple(verb for verb in ("get", "update", "patch", "delete") if verb in kind.verbs)
    if on_one:
        yield _Place(f"{collection}/{{name}}", on_one, *own, owner, noun)
    for each in subresources.of(kind):
        if not each.is_typed:
            continue
        type_of = (each.group, each.version, each.kind, each.type_name)
        yield _Place(f"{collection}/{{name}}/{each.name}", each.verbs, *type_of, owner, noun + each.name.capitalize())


def _item(place: _Place, ref: Ref) -> Object:
    item: Object = {_VERBS[verb].method: _operation(verb, place, ref) for verb in place.verbs}
    item["parameters"] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("name", "namespace")
        if f"{{{name}}}" in place.path
    ]
    return item


def _operation(verb: str, place: _Place, ref: Ref) -> Object:
    word = _VERBS[verb]
    answer = place.of_list if verb == "list" else "Status" if word.body == "options" else place.type_name
    operation: Object = {
        "operationId": f"{word.word}{place.owner}{'Collection' if verb == 'deletecollection' else ''}{place.noun}",
        "parameters": [_parameter(each) for each in sorted(word.parameters)],
        "responses": {str(code): {"description": "OK", "content": {ANSWER: {"schema": ref(answer)}}} for code in word.codes},
        "x-kubernetes-action": word.action,
        "x-kubernetes-group-version-kind": {"group": place.group, "kind": place.kind, "version": place.version},
    }
    if word.body:
        operation["requestBody"] = _body(word.body, place, ref)
    return operation


def _body(body: str, place: _Place, ref: Ref) -> Object:
    if body == "patch":
        # A json patch is a list, the other kinds are objects.
        one: Object = {"type": "object"}
        several: Object = {"type": "array", "items": one}
        content = {each: {"schema": several if "json-patch" in each else one} for each in place.patches}
        return {"required": True, "content": content}
    schema = ref("DeleteOptions" if body == "options" else place.type_name)
    request_body: Object = {"content": {each: {"schema": schema} for each in BODIES}}
    return {"required": True, **request_body} if body == "object" else request_body


def _parameter(name: str) -> Object:
    type_ = "integer" if name in _WHOLE else "boolean" if name in _YES_OR_NO else "string"
    return {"name": name, "in": "query", "schema": {"type": type_, "uniqueItems": True}}
