"""PolicyTest files: policies, a world, and a table of requests with what is expected of each.

apiVersion: podstrat.dev/v1
kind: PolicyTest
metadata: {name: no-latest-tag}
policies: [no-latest-tag.yaml]      # files beside this one, or objects: policies, bindings, parameters
world: [namespaces.yaml]            # optional: other objects that exist
requests:
- name: latest is denied
  object: {...}                     # or a file
  expect: deny                      # allow, deny or warn
  message: the image has no tag     # or messageContains
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from podstrat import goyaml
from podstrat.check import inputs, manifest
from podstrat.check.places import Place
from podstrat.goyaml import Document
from podstrat.policy import errors
from podstrat.policy.verdict import PolicyRequest
from podstrat.strategy import kinds
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import ADMIN, User

API_VERSION = "podstrat.dev/v1"
KIND = "PolicyTest"
VERDICTS = ("allow", "deny", "warn")
OPERATIONS = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete"}
TOP = ("apiVersion", "kind", "metadata", "policies", "world", "requests")
REQUEST = (
    "name", "object", "oldObject", "operation", "subresource", "user", "expect", "message", "messageContains", "fields",
)  # fmt: skip

Object = dict[str, Any]


class Placed(NamedTuple):
    """An object, and where it stands."""

    value: Object
    document: Document
    at: Place


class Case(NamedTuple):
    """A request of the table, and what is expected of it."""

    name: str
    at: Place
    request: PolicyRequest
    expect: str
    message: str | None
    contains: str | None
    fields: Mapping[str, Any]
    """Values of the admitted object by path; None for a field that is absent."""


class Suite(NamedTuple):
    """A PolicyTest."""

    name: str
    document: Document
    policies: tuple[Placed, ...]
    world: tuple[Placed, ...]
    cases: tuple[Case, ...]


def suite(document: Document) -> Suite:
    """The PolicyTest of a document; BadTest, with file and line, for one that is wrong."""
    return _Reader(document).suite()


class _Reader:
    """Reads one document. Every method takes the place of what it reads."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._directory = os.path.dirname(document.name) if os.path.exists(document.name) else ""

    def suite(self) -> Suite:
        value = self._document.value
        if value.get("apiVersion") != API_VERSION:
            raise self._bad(("apiVersion",), f"expected {API_VERSION}")
        self._keys((), value, TOP)
        for duplicate in self._document.duplicates:
            if not duplicate.merged:
                line, column = duplicate.second
                raise errors.BadTest(f"{self._document.name}:{line}:{column}", f"duplicate key {duplicate.path[-1]!r}")
        metadata = self._typed((), "metadata", dict) or {}
        policies = tuple(self._objects("policies"))
        if not policies:
            raise self._bad(("policies",), "expected at least one file or object")
        requests = self._typed((), "requests", list)
        if not requests:
            raise self._bad(("requests",), "expected at least one request")
        cases = tuple(self._case(("requests", i)) for i in range(len(requests)))
        name = metadata.get("name") or os.path.basename(self._document.name)
        return Suite(str(name), self._document, policies, tuple(self._objects("world")), cases)

    def _case(self, at: Place) -> Case:
        value = self._value(at)
        if not isinstance(value, dict):
            raise self._bad(at, "expected a request")
        self._keys(at, value, REQUEST)
        obj, old = self._object((*at, "object")), self._object((*at, "oldObject"))
        operation = self._choice((*at, "operation"), tuple(OPERATIONS), "UPDATE" if obj and old else "CREATE")
        if (obj is None) != (operation == "DELETE") or (old is None) != (operation == "CREATE"):
            raise self._bad(at, f"{operation} needs {_NEEDED[operation]}")
        kind = self._kind((*at, "object" if old is None else "oldObject"), old or obj or {})
        subresource = self._typed(at, "subresource", str) or ""
        return Case(
            name=self._typed(at, "name", str) or f"requests[{at[-1]}]",
            at=at,
            request=PolicyRequest(OPERATIONS[operation], kind, obj, old, subresource, self._user((*at, "user"))),
            expect=self._choice((*at, "expect"), VERDICTS, ""),
            message=self._typed(at, "message", str),
            contains=self._typed(at, "messageContains", str),
            fields=self._typed(at, "fields", dict) or {},
        )

    def _kind(self, at: Place, obj: Object) -> Kind:
        kind = kinds.BY_NAME.get((str(obj.get("apiVersion")), str(obj.get("kind"))))
        if kind is None:
            raise self._bad(at, f"unknown kind {obj.get('kind')} of {obj.get('apiVersion')}")
        return kind

    def _user(self, at: Place) -> User:
        value = self._value(at)
        if value is None:
            return ADMIN
        if isinstance(value, str):
            return User(value, ("system:authenticated",))
        if not isinstance(value, dict):
            raise self._bad(at, "expected a name, or name and groups")
        self._keys(at, value, ("name", "groups"))
        groups = self._typed(at, "groups", list) or ()
        return User(self._typed(at, "name", str) or "", tuple(map(str, groups)))

    # ---- objects ---------------------------------------------------------------------------------------

    def _object(self, at: Place) -> Object | None:
        """The one object of a place, given as such or by the name of its file."""
        value = self._value(at)
        if value is None:
            return None
        objects = list(self._placed(at, value))
        if len(objects) != 1:
            raise self._bad(at, f"{value}: expected one object, not {len(objects)}")
        return objects[0].value

    def _objects(self, key: str) -> Iterator[Placed]:
        """The objects of a list of objects and files."""
        for i, value in enumerate(self._typed((), key, list) or ()):
            yield from self._placed((key, i), value)

    def _placed(self, at: Place, value: Any) -> Iterator[Placed]:
        if isinstance(value, str):
            for document in self._documents(at, value):
                for each in manifest.of(document.value):
                    if each.value is not None and each.said("kind") != KIND:
                        yield _checked(Placed(each.value, document, each.at))
        else:
            yield _checked(Placed(value, self._document, at))

    def _documents(self, at: Place, name: str) -> Iterator[Document]:
        path = os.path.join(self._directory, name)
        try:
            yield from goyaml.documents(inputs.content(path), path)
        except goyaml.YamlError as error:
            raise errors.BadTest(path, str(error)) from None
        except (OSError, ValueError) as error:  # ValueError: the name has a null character
            raise self._bad(at, f"{name!r}: {getattr(error, 'strerror', None) or error}") from None

    # ---- values ----------------------------------------------------------------------------------------

    def _value(self, at: Place) -> Any:
        value = self._document.value
        for step in at:
            value = value.get(step) if isinstance(value, dict) else value[step]
        return value

    def _typed(self, at: Place, key: str, expected: type) -> Any:
        value = self._value((*at, key))
        if value is not None and not isinstance(value, expected):
            raise self._bad((*at, key), f"expected {_NAMES[expected]}")
        return value

    def _choice(self, at: Place, choices: tuple[str, ...], default: str) -> str:
        value = self._value(at) or default
        if value not in choices:
            raise self._bad(at, f"expected one of: {', '.join(choices)}")
        return str(value)

    def _keys(self, at: Place, value: Object, allowed: tuple[str, ...]) -> None:
        for key in value:
            if key not in allowed:
                raise errors.at(self._document, (*at, key), f"unknown field (one of: {', '.join(allowed)})", key=True)

    def _bad(self, at: Place, text: str) -> errors.BadTest:
        return errors.at(self._document, at, text)


def _checked(placed: Placed) -> Placed:
    value = placed.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not value.get("kind") or not value.get("apiVersion"):
        raise errors.at(placed.document, placed.at, "expected an object with apiVersion, kind and metadata")
    return placed


_NEEDED = {"CREATE": "object, and no oldObject", "UPDATE": "object and oldObject", "DELETE": "oldObject, and no object"}
_NAMES: dict[type, str] = {dict: "a mapping", list: "a list", str: "a string"}
