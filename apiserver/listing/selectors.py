"""Label and field selectors: text in, a predicate over objects out.

    x=1,y!=2,z in (a,b),w notin (c),v,!u,n>3
    status.phase=Running,spec.nodeName!=a

Whatever is wrong with the text is said in the server's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import Kind
from podstrat.strategy import field
from podstrat.strategy.formats import go, validation

Object = dict[str, Any]
Labels = Mapping[str, str]

IN, NOT_IN, EXISTS, DOES_NOT_EXIST = "in", "notin", "exists", "!"
EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER, LESS = "=", "==", "!=", "gt", "lt"
_ANY_OF = {IN, EQUALS, DOUBLE_EQUALS}
_NONE_OF = {NOT_IN, NOT_EQUALS}

_BINARY = {
    "in": IN,
    "notin": NOT_IN,
    "=": EQUALS,
    "==": DOUBLE_EQUALS,
    "!=": NOT_EQUALS,
    ">": GREATER,
    "<": LESS,
}
_BINARY_NAMES = ", ".join((IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER, LESS))
_INTEGER = re.compile(r"[-+]?[0-9]+")


class Malformed(ValueError):
    """A selector that cannot be understood; the text is the server's."""


class Requirement(NamedTuple):
    """One requirement on a label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Labels) -> bool:
        """Upstream: Requirement.Matches"""
        value = labels.get(self.key)
        if self.operator in _ANY_OF:
            return value is not None and value in self.values
        if self.operator in _NONE_OF:
            return value is None or value not in self.values
        if self.operator == EXISTS:
            return value is not None
        if self.operator == DOES_NOT_EXIST:
            return value is None
        number, limit = _int64(value or ""), _int64(self.values[0])
        if number is None or limit is None:
            return False
        return number > limit if self.operator == GREATER else number < limit


class LabelSelector(NamedTuple):
    """Requirements that must all hold."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        return all(requirement.holds(labels) for requirement in self.requirements)


# ---- label selectors as text -----------------------------------------------------------------------------


def parse_labels(text: str, unit: str = "bytes") -> LabelSelector:
    """A label selector as it stands in a query. ``unit`` is how the release words the length of a key.

    Upstream: labels.Parse
    """
    return LabelSelector(tuple(sorted(_Parser(text, unit).requirements(), key=lambda requirement: requirement.key)))


# A zero byte ends a token; where one should begin, it ends everything.
_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>\0]+))\0?")
_END = ""
"""The token at the end. It is printed as nothing, and no other token is."""


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Operators, brackets, commas and identifiers; and whether each is an identifier."""
    at = 0
    while match := _TOKEN.match(text, at):
        yield match[2] or match[1], match[2] is not None
        at = match.end()


class _Parser:
    """One text on its way into requirements."""

    def __init__(self, text: str, unit: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._unit = unit

    def _peek(self) -> tuple[str, bool]:
        """The next token, and whether it is an identifier. "in" and "notin" are: a label may be called so."""
        return self._tokens[self._at] if self._at < len(self._tokens) else (_END, False)

    def _take(self) -> tuple[str, bool]:
        token = self._peek()
        self._at += 1
        return token

    def requirements(self) -> Iterator[Requirement]:
        """Upstream: Parser.parse"""
        token, is_name = self._peek()
        while token != _END:
            if not is_name and token != "!":
                raise Malformed(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                yield self._requirement()
            except Malformed as error:
                raise Malformed(f"unable to parse requirement: {error}") from None
            separator, _ = self._take()
            if separator == _END:
                return
            if separator != ",":
                raise Malformed(f"found '{separator}', expected: ',' or 'end of string'")
            token, is_name = self._peek()
            if not is_name and token != "!":
                raise Malformed(f"found '{token}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        """Upstream: Parser.parseRequirement"""
        name, is_name = self._take()
        negated = name == "!" and not is_name
        if negated:
            name, is_name = self._take()
        if not is_name:
            raise Malformed(f"found '{name}', expected: identifier")
        if faults := validation.label_key(name, self._unit):
            # The server has no path to give here.
            raise Malformed(str(field.invalid("<nil>", name, "; ".join(faults))))
        if negated:
            return Requirement(name, DOES_NOT_EXIST)
        if self._peek() in ((_END, False), (",", False)):
            return Requirement(name, EXISTS)
        token, _ = self._take()
        if token not in _BINARY:
            raise Malformed(f"found '{token}', expected: {_BINARY_NAMES}")
        operator = _BINARY[token]
        values = self._several() if operator in (IN, NOT_IN) else {self._one()}
        return _checked(Requirement(name, operator, tuple(sorted(values))), self._unit)

    def _one(self) -> str:
        """Upstream: Parser.parseExactValue"""
        if self._peek() in ((_END, False), (",", False)):
            return ""
        value, is_name = self._take()
        if not is_name:
            raise Malformed(f"found '{value}', expected: identifier")
        return value

    def _several(self) -> set[str]:
        """Upstream: Parser.parseValues"""
        token, is_name = self._take()
        if token != "(" or is_name:
            raise Malformed(f"found '{token}' expected: '('")
        token, is_name = self._peek()
        if token == ")" and not is_name:
            self._take()
            return {""}
        if not is_name and token != ",":
            raise Malformed(f"found '{token}', expected: ',', ')' or identifier")
        values = self._identifiers()
        self._take()
        return values

    def _identifiers(self) -> set[str]:
        """Names between commas, possibly empty. Stops before the bracket.

        Upstream: Parser.parseIdentifiersList
        """
        values: set[str] = set()
        while True:
            token, is_name = self._take()
            after, _ = self._peek()
            if is_name:
                values.add(token)
                if after not in (",", ")"):
                    raise Malformed(f"found '{after}', expected: ',' or ')'")
            elif token == ",":
                if not values or after in (",", ")"):
                    values.add("")
            else:
                raise Malformed(f"found '{token}', expected: ',', or identifier")
            if after == ")":
                return values


def _checked(requirement: Requirement, unit: str) -> Requirement:
    """The values are such as labels can have.

    Upstream: NewRequirement
    """
    if faults := [str(fault) for fault in _faults(requirement, unit)]:
        raise Malformed(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return requirement


def _faults(requirement: Requirement, unit: str) -> field.Errors:
    if requirement.operator in (GREATER, LESS) and _int64(requirement.values[0]) is None:
        yield field.invalid("values[0]", requirement.values[0], "for 'Gt', 'Lt' operators, the value must be an integer")
    for i, value in enumerate(requirement.values):
        if faults := validation.label_value(value, unit):
            yield field.invalid(f"values[{i}][{requirement.key}]", value, "; ".join(faults))


def _int64(text: str) -> int | None:
    if not _INTEGER.fullmatch(text) or len(text) > 40:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


# ---- label selectors as objects --------------------------------------------------------------------------

_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}


def label_selector_of(selector: Mapping[str, Any] | None) -> Callable[[Labels], bool]:
    """The question that a LabelSelector in an object asks of labels. None asks for nothing and finds nothing; {} finds all.

    Upstream: LabelSelectorAsSelector
    """
    if selector is None:
        return lambda labels: False
    requirements = [Requirement(key, EQUALS, (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or ():
        operator = _OPERATORS.get(each.get("operator", ""))
        if operator is None:
            return lambda labels: False
        requirements.append(Requirement(each.get("key", ""), operator, tuple(each.get("values") or ())))
    return LabelSelector(tuple(requirements)).matches


# ---- field selectors -------------------------------------------------------------------------------------


class Term(NamedTuple):
    """One requirement on a field."""

    field: str
    equal: bool
    value: str


_OPERATOR = re.compile(r"!=|==|=")


def parse_fields(text: str) -> tuple[Term, ...]:
    r"""A field selector as it stands in a query: terms between commas; in a value, ``\``, ``,`` and ``=`` are escaped by ``\``.

    Upstream: fields.ParseSelector
    """
    return tuple(_term(part, text) for part in sorted(_terms(text)) if part)


def _terms(text: str) -> Iterator[str]:
    start, escaped = 0, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == ",":
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _term(part: str, text: str) -> Term:
    operator = _OPERATOR.search(part)
    if not operator:
        raise Malformed(f"invalid selector: '{text}'; can't understand '{part}'")
    return Term(part[: operator.start()], operator[0] != "!=", _unescaped(part[operator.end() :]))


def _unescaped(value: str) -> str:
    """Upstream: UnescapeValue"""
    out, chars = [], iter(value)
    for char in chars:
        if char == "\\":
            char = next(chars, "")
            if char not in ("\\", ",", "="):
                raise Malformed(f"invalid field selector: invalid escape sequence: \\{char}")
        elif char in ",=":
            # The server prints the character's number.
            raise Malformed(f"invalid field selector: unescaped character in value: {ord(char)}")
        out.append(char)
    return "".join(out)


Reader = Callable[[Object], str]
Fields = Mapping[str, Reader]


def _at(*path: str) -> Reader:
    def read(obj: Object) -> str:
        value: Any = obj
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            return ""
        return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)

    return read


def _flag(*path: str) -> Reader:
    """A boolean field; absent is false."""
    read = _at(*path)
    return lambda obj: read(obj) or "false"


def _nothing(obj: Object) -> str:
    return ""


def _pod_ip(obj: Object) -> str:
    """The first of the pod's addresses."""
    status = obj.get("status") or {}
    first: Object = next(iter(status.get("podIPs") or ()), {})
    return str(first.get("ip") or status.get("podIP") or "")


def _event_source(obj: Object) -> str:
    return str((obj.get("source") or {}).get("component") or obj.get("reportingComponent") or "")


def _succeeded(obj: Object) -> str:
    return str((obj.get("status") or {}).get("succeeded", 0))


def _replicas(obj: Object) -> str:
    return str((obj.get("status") or {}).get("replicas", 0))


_NAME: Fields = {"metadata.name": _at("metadata", "name")}
_META: Fields = {**_NAME, "metadata.namespace": _at("metadata", "namespace")}
_POD: Fields = {
    **_META,
    "spec.nodeName": _at("spec", "nodeName"),
    # What clients sent before nodeName had its name.
    "spec.host": _at("spec", "nodeName"),
    "spec.restartPolicy": _at("spec", "restartPolicy"),
    "spec.schedulerName": _at("spec", "schedulerName"),
    "spec.serviceAccountName": _at("spec", "serviceAccountName"),
    "spec.hostNetwork": _flag("spec", "hostNetwork"),
    "status.phase": _at("status", "phase"),
    "status.podIP": _pod_ip,
    # Accepted, but the server keeps no such field to compare with.
    "status.podIPs": _nothing,
    "status.nominatedNodeName": _at("status", "nominatedNodeName"),
}
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_EVENT: Fields = {
    **{f"involvedObject.{name}": _at("involvedObject", name) for name in _REFERENCE},
    "reason": _at("reason"),
    "reportingComponent": _at("reportingComponent"),
    "source": _event_source,
    "type": _at("type"),
    **_META,
}
FIELDS: Mapping[tuple[str, str], Fields] = {
    ("", "pods"): _POD,
    ("", "nodes"): {**_NAME, "spec.unschedulable": _flag("spec", "unschedulable")},
    ("", "namespaces"): {**_NAME, "status.phase": _at("status", "phase")},
    ("", "services"): {**_META, "spec.clusterIP": _at("spec", "clusterIP"), "spec.type": _at("spec", "type")},
    ("", "events"): _EVENT,
    ("events.k8s.io", "events"): {
        **{f"regarding.{name}": _at("regarding", name) for name in _REFERENCE},
        "reason": _at("reason"),
        "reportingController": _at("reportingController"),
        "type": _at("type"),
        **_META,
    },
    ("certificates.k8s.io", "certificatesigningrequests"): {**_NAME, "spec.signerName": _at("spec", "signerName")},
    ("certificates.k8s.io", "clustertrustbundles"): {**_NAME, "spec.signerName": _at("spec", "signerName")},
    ("certificates.k8s.io", "podcertificaterequests"): {
        **_META,
        "spec.signerName": _at("spec", "signerName"),
        "spec.podName": _at("spec", "podName"),
        "spec.nodeName": _at("spec", "nodeName"),
    },
    ("batch", "jobs"): {**_META, "status.successful": _succeeded},
    ("apps", "replicasets"): {**_META, "status.replicas": _replicas},
    ("", "replicationcontrollers"): {**_META, "status.replicas": _replicas},
    ("", "secrets"): {**_META, "type": _at("type")},
    ("resource.k8s.io", "resourceslices"): {
        **_NAME,
        "spec.nodeName": _at("spec", "nodeName"),
        "spec.driver": _at("spec", "driver"),
    },
}
"""The fields that can be selected by, where a kind has others than its name and namespace.

Upstream: AddFieldLabelConversionFunc, and GetAttrs of each registry
"""


class FieldSelector(NamedTuple):
    """Terms that must all hold, about the fields of one kind."""

    terms: tuple[tuple[Reader, Term], ...] = ()

    def matches(self, obj: Object) -> bool:
        return all((read(obj) == term.value) is term.equal for read, term in self.terms)

    def exact(self, name: str) -> str | None:
        """The one value that a field must have, if there is one."""
        return next((term.value for _, term in self.terms if term.equal and term.field == name), None)


def fields_of(kind: Kind, terms: tuple[Term, ...]) -> FieldSelector:
    """The terms as they apply to a kind.

    Upstream: ConvertFieldLabel
    """
    readers = FIELDS.get((kind.group, kind.plural), _META)
    if isinstance(kind, CustomKind):
        readers = _custom_fields(kind)
    for term in terms:
        if term.field not in readers:
            raise Malformed(_unsupported(kind, term.field))
    return FieldSelector(tuple((readers[term.field], term) for term in terms))


def _custom_fields(kind: CustomKind) -> dict[str, Reader]:
    """The fields of a custom resource that can be selected by."""
    names = ("metadata.name", "metadata.namespace") if kind.namespaced else ("metadata.name",)
    return {name: _at(*name.split(".")) for name in (*names, *kind.selectable)}


def _unsupported(kind: Kind, name: str) -> str:
    if isinstance(kind, CustomKind):
        return f"field label not supported: {name}"
    if (kind.group, kind.plural) not in FIELDS:
        return f'{go.quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'
    if kind.group:
        return f"field label not supported for {kind.api_version}, Kind={kind.kind}: {name}"
    return f"field label not supported: {name}"


class Selection(NamedTuple):
    """Both selectors of a request."""

    labels: LabelSelector = LabelSelector()
    fields: FieldSelector = FieldSelector()

    @property
    def everything(self) -> bool:
        return not self.labels.requirements and not self.fields.terms

    def matches(self, obj: Object) -> bool:
        return self.labels.matches(obj["metadata"].get("labels") or {}) and self.fields.matches(obj)


EVERYTHING = Selection()
