"""The decoder: request bodies and patched objects in, canonical objects out, or the server's decoding errors."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from podstrat.records import NamedTuple
from podstrat.strategy.api.types import Field, Types
from podstrat.strategy.decoding import careful, fast, jsontext, plain_defaults, scheme
from podstrat.strategy.decoding.careful import Object, Plan
from podstrat.strategy.decoding.walk import Decoded, DecodeError, Seen, Walk, described
from podstrat.strategy.errors import BadRequest
from podstrat.strategy.formats import go

__all__ = ["DecodeError", "Decoded", "Decoder", "Seen", "blank", "decode_list", "parse", "printable", "prune", "zero"]

_PARSING: Final = "couldn't get version/kind; json parse error: "
_META: Final = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_META_KEYS: Final = {"kind": "kind", "apiversion": "apiVersion"}
_FOLDED: Final = str.maketrans("\u017f\u212a", "sk")  # the two other characters that fold into ASCII letters
_TOO_DEEP: Final = "exceeded max depth"
_SHOWN: Final = 30  # bytes of the body that the server's message shows

# Where one kind is taken in several versions.
_ALSO_TAKEN: Final = {("Eviction", "policy/v1"): ("policy/v1beta1",)}


class Encoded(ABC):
    """A body in another encoding than JSON: parsed when it is decoded, so that whatever is judged before it comes first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        """The bytes of the request."""

    @abstractmethod
    def value(self) -> Any:
        """What JSON would say; DecodeError with the bare words."""

    def repeated(self) -> list[str]:
        """The keys that the text repeats: a line each, as a warning has it."""
        return []


class Named(NamedTuple):
    """What a body calls itself, with what the request says where it says nothing."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return scheme.joined(self.group, self.version)


class Mode(NamedTuple):
    """What the fast path does to a value on the way."""

    fill: bool
    """Plain defaults are filled in."""
    own: bool
    """The value is changed where it stands, and its keys are counted; otherwise it is copied."""


_COPY: Final = Mode(fill=False, own=False)
_COPY_FILLED: Final = Mode(fill=True, own=False)
_OWN: Final = Mode(fill=False, own=True)
_OWN_FILLED: Final = Mode(fill=True, own=True)
_MODES: Final = (_COPY, _COPY_FILLED, _OWN, _OWN_FILLED)


class Decoder:
    """Decodes the kinds of one release.

    ``watch`` gives the gate of a field by its type and name: a gate is ``seen`` when one of its fields is there.
    ``plain`` are defaults that may be filled in on the way.
    """

    def __init__(
        self, types: Types, watch: Mapping[tuple[str, str], str] | None = None, plain: plain_defaults.Table = frozenset()
    ) -> None:
        self.types = types
        watched = frozenset((watch or {}).items())
        self._plans = careful.of(types, watched)
        self._fills = bool(plain)
        self._fast = {mode: fast.readers(types, watched, plain if mode.fill else frozenset(), mode.own) for mode in _MODES}

    def decode(self, value: Any, kind: str) -> Decoded:
        """A value as an object of a type, by the type's name in the table; DecodeError if it does not fit.

        Upstream: UnmarshalStrict
        """
        if type(value) is dict and (got := self._at_once(value, kind, _COPY)) is not None:
            return got
        try:
            return self._with_care(value, kind)
        except RecursionError:
            raise DecodeError(_TOO_DEEP) from None

    def _with_care(self, value: Any, kind: str) -> Decoded:
        walk = Walk(self.types, kind)
        package, _, short = kind.rpartition(".")
        go_type = f"{'v2' if package.endswith('.v2') else 'v1'}.{short}"
        plan = self._plans[kind]
        out = plan.read(walk, value, None, go_type)
        if walk.error is not None:
            raise DecodeError(walk.error)
        if walk.repeated:
            from podstrat.strategy.decoding import duplicates  # here: nearly no text repeats a key

            out = plan.read(Walk(self.types, kind), duplicates.folded(value, kind, self.types), None, go_type)
        return Decoded(out, list(walk.strict), walk.seen)

    def resolve(self, body: Any, kind: str = "Pod", api_version: str = "v1", fill: bool = False) -> Decoded:
        """A body, as bytes or as a value, as an object of a kind, if it says that it is one; DecodeError with the bare words.

        With ``fill`` it may come with its plain defaults, and then tells so.
        Upstream: codec.Decode, Serializer.Decode
        """
        if type(body) is bytes and (got := self._ordinary(body, kind, api_version, fill)) is not None:
            return got
        value = parse(body)
        if _says(value, kind, api_version):
            got = self._at_once(value, _type_name(api_version, kind), _COPY_FILLED if fill else _COPY, api_version)
            if got is not None:
                return got
        named = named_as(value, kind, api_version)
        try:
            if not named.version:
                raise DecodeError(f"Object 'apiVersion' is missing in '{jsontext.text(sent(body))}'")
            return self._as_named(value, named, kind, api_version)
        except DecodeError as error:
            error.about = named.kind, named.version
            raise

    def merged(self, value: Object, kind: str, api_version: str) -> Decoded:
        """An object that server-side apply has merged; DecodeError with the bare words."""
        return self.resolve(value, kind, api_version)

    def _ordinary(self, body: bytes, kind: str, api_version: str, fill: bool) -> Decoded | None:
        """A healthy object in an ordinary text; None if either wants a closer look."""
        try:
            value, keys = jsontext.ordinary(body)
        except (ValueError, RecursionError):
            return None
        if not _says(value, kind, api_version):
            return None
        got = self._at_once(value, _type_name(api_version, kind), _OWN_FILLED if fill else _OWN, api_version)
        return got if got is not None and got.seen.keys == keys else None

    def _at_once(self, value: Object, type_name: str, mode: Mode, api_version: str = "") -> Decoded | None:
        """A healthy value on the fast path; None if it needs the careful one."""
        seen = Seen()
        seen.filled = mode.fill and self._fills
        try:
            return Decoded(self._fast[mode][type_name](value, seen), [], seen, api_version)
        except (fast.Detour, KeyError, ValueError, TypeError, RecursionError):
            return None

    def read(
        self, body: Any, kind: str = "Pod", api_version: str = "v1", field_validation: str = "", fill: bool = False
    ) -> tuple[Object, list[str], Seen]:
        """What the server does with the body of a request: the object, the warnings, the gates seen; BadRequest is its 400.

        Upstream: createHandler, UpdateResource, transformDecodeError
        """
        try:
            got = self.resolve(body, kind, api_version, fill)
        except DecodeError as error:
            raise BadRequest(_refusal(error, kind, body)) from None
        repeated = body.repeated() if type(body) is not dict and isinstance(body, Encoded) else []
        if (got.strict or repeated) and field_validation == "Strict":
            every = [unmarshal_errors(repeated), *got.strict] if repeated else got.strict
            strict = DecodeError(f"strict decoding error: {', '.join(every)}")
            strict.about = kind, got.api_version.rpartition("/")[2]
            raise BadRequest(_refusal(strict, kind, body))
        warnings = [] if field_validation == "Ignore" else [*repeated, *got.strict] if repeated else got.strict
        if got.api_version != api_version and got.api_version not in _ALSO_TAKEN.get((kind, api_version), ()):
            words = f"the API version in the data ({got.api_version}) does not match the expected API version ({api_version})"
            raise BadRequest(words, warnings=tuple(warnings))
        return got.value, warnings, got.seen

    def options(self, body: Any) -> Object:
        """The body of a delete: DeleteOptions, whatever their version. Unknown fields do not count; DecodeError with bare words.

        Upstream: DeleteResource
        """
        value = parse(body)
        named = named_as(value, "DeleteOptions", "meta.k8s.io/v1")
        if named.kind == "DeleteOptions":
            return self.decode(value, "DeleteOptions").value
        if scheme.has_options(named.api_version, named.kind):
            raise DecodeError(unknown_conversion(f"{named.version}.{named.kind}", "v1.DeleteOptions"))
        raise DecodeError(scheme.unregistered(named.kind, named.group, named.version, scheme.OPTIONS_NAME))

    def _as_named(self, value: Any, named: Named, kind: str, api_version: str) -> Decoded:
        group, _ = scheme.split(api_version) or ("", "")
        type_name = scheme.type_name(named.group, named.kind, named.version)
        same = named.kind == kind and (named.group == group or scheme.is_former_group(named.group, kind))
        if same and named.group != group:
            type_name = _type_name(api_version, kind)
        if same and named.version == scheme.INTERNAL:
            return self._internal(value, named)
        if same and (named.api_version == api_version or scheme.knows(named.api_version, kind)):
            got = self.decode(value, type_name)
            got.value["apiVersion"], got.value["kind"] = named.api_version, kind
            return got._replace(api_version=named.api_version)
        # Another kind is decoded as what it is; only then it turns out to be the wrong one.
        if not scheme.knows(named.api_version, named.kind):
            raise DecodeError(scheme.unregistered(named.kind, named.group, named.version))
        if type_name in self.types:
            self.decode(value, type_name)
        raise DecodeError(unknown_conversion(f"{named.version}.{named.kind}", f"{scheme.package(group)}.{kind}"))

    def _internal(self, value: Any, named: Named) -> Decoded:
        """The server's own form of the object, with other names: metadata is spread at the top, the rest has Go's spelling."""
        known = {"apiVersion", "kind", "Spec", "Status", *self.types.fields("ObjectMeta")}
        walk = Walk(self.types, named.kind)
        for key in value:
            if key not in known:
                walk.unknown(None, key)
        plan = self._plans[scheme.type_name(named.group, named.kind)]
        return Decoded(plan.zero(), list(walk.strict), Seen(), named.api_version)


def _says(value: Any, kind: str, api_version: str) -> bool:
    """Whether a value says what it is. On the fast path, where every key is known, no other one says something else."""
    return type(value) is dict and value.get("kind") == kind and value.get("apiVersion") == api_version


def decode_list(body: bytes, type_name: str, types: Types) -> list[Object]:
    """A list of the server's own form of a type that has scalars only, whose fields are found whatever their case.

    DecodeError with the bare words.
    Upstream: json.Unmarshal into an internal type
    """
    try:
        value = jsontext.parse(body)
    except jsontext.JSONError as error:
        raise DecodeError(error.message) from None
    if value is not None and not isinstance(value, list):
        raise DecodeError(f"json: cannot unmarshal {described(value)} into Go value of type []core.{type_name}")
    fields = {name.lower(): field for name, field in types.fields(type_name).items()}
    decoder = Decoder(types)
    return [
        decoder.decode(_renamed(item, f".{index}", type_name, fields), type_name).value for index, item in enumerate(value or ())
    ]


def _renamed(item: Any, at: str, type_name: str, fields: dict[str, Field]) -> Object:
    """An object with the field names of its published form. The path of what does not fit begins with the index."""
    if item is None:
        return {}
    if not isinstance(item, dict):
        raise DecodeError(f"json: cannot unmarshal {described(item)} into Go struct field {at} of type core.{type_name}")
    out = {}
    for key, value in item.items():
        field = fields.get(key.translate(_FOLDED).lower())
        if field is None or value is None:
            continue
        number = described(value) == "number" and field.type == "int64"
        if described(value) != field.type and not (number and isinstance(value, int) and -(1 << 63) <= value < 1 << 63):
            shown = f"number {jsontext.number_text(value)}" if number else described(value)
            go_type = field.go_type.replace("v1.", "core.")
            raise DecodeError(f"json: cannot unmarshal {shown} into Go struct field {at}.{key} of type {go_type}")
        out[field.name] = value
    return out


def zero(type_name: str, types: Types) -> Object:
    """The object of a type of which nothing is said."""
    return careful.of(types)[type_name].zero()


def blank(kind: str, api_version: str, types: Types) -> Object:
    """An object of a kind without any content, as it is printed."""
    return {"kind": kind, "apiVersion": api_version, **zero(_type_name(api_version, kind), types)}


def printable(obj: Object, seen: Seen, types: Types, type_name: str = "Pod") -> Object:
    """An object that has been read and defaulted, as it is printed and stored.

    Reading has told whether anything must go; defaulting takes annotations away, and may leave none.
    """
    if not seen.empty and obj["metadata"].get("annotations") != {}:
        return obj
    return prune(obj, type_name, types)


def prune(obj: Object, type_name: str, types: Types) -> Object:
    """An object as it is printed and stored: without empty lists and maps; those that are always there are null.

    What is not empty is not copied.
    """
    return _pruned(obj, careful.of(types)[type_name])


def _pruned(obj: Object, plan: Plan) -> Object:
    out = obj
    holders = plan.holders
    for key, value in obj.items():
        if key not in holders:
            continue
        several, omitempty, inner = holders[key]
        if value:
            if inner is None:
                continue
            new = _pruned_all(value, inner) if several else _pruned(value, inner)
            if new is not value:
                out = out if out is not obj else obj.copy()
                out[key] = new
        elif several and value is not None:
            out = out if out is not obj else obj.copy()
            if omitempty:
                del out[key]
            else:
                out[key] = None
    return out


def _pruned_all(values: Any, plan: Plan) -> Any:
    """The values of a list or map, in a new one if one of them is new."""
    if isinstance(values, dict):
        new = {key: _pruned(value, plan) for key, value in values.items()}
        return new if any(new[key] is not value for key, value in values.items()) else values
    out = values
    for index, value in enumerate(values):
        new = _pruned(value, plan)
        if new is not value:
            out = out if out is not values else values.copy()
            out[index] = new
    return out


@lru_cache(maxsize=256)
def _type_name(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return scheme.type_name(group, kind, version)


def unmarshal_errors(lines: Iterable[str]) -> str:
    """What go-yaml says of all that a strict reader refuses."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {line}" for line in lines)


def parse(body: Any) -> Any:
    """A body as a value, if it is bytes or encoded; DecodeError with the bare words if it cannot be parsed."""
    if isinstance(body, Encoded):
        return body.value()
    if not isinstance(body, (bytes, bytearray, memoryview)):
        return body
    try:
        return jsontext.parse(bytes(body))
    except jsontext.JSONError as error:
        raise DecodeError(_PARSING + error.message) from None


def sent(body: Any) -> bytes:
    """A body as it went over the wire, or would have."""
    if isinstance(body, Encoded):
        return body.data
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError, RecursionError):
        return b""


def named_as(value: Any, kind: str, api_version: str) -> Named:
    """What a value calls itself. These two keys are looked for whatever their case.

    Upstream: SimpleMetaFactory.Interpret, gvkWithDefaults
    """
    said = {"kind": "", "apiVersion": ""}
    if isinstance(value, dict):
        _take_names(value, said)
    elif value is not None:
        raise DecodeError(f"{_PARSING}json: cannot unmarshal {described(value)} into Go value of type {_META}")
    parts = scheme.split(said["apiVersion"])
    if parts is None:
        raise DecodeError(f"unexpected GroupVersion string: {said['apiVersion']}")
    group, version = parts
    default = scheme.split(api_version) or ("", "")
    if not version and group in ("", default[0]):
        group, version = default
    return Named(group, version, said["kind"] or kind)


def _take_names(value: Object, said: dict[str, str]) -> None:
    error = ""
    for key, item in value.items():
        name = key if key in said else _META_KEYS.get(key.translate(_FOLDED).lower()) if isinstance(key, str) else None
        if name is None or item is None:
            continue
        if isinstance(item, str):
            said[name] = str(item)
        else:
            words = f"json: cannot unmarshal {described(item)} into Go struct field .{name} of type string"
            error = error or words
    if error:
        raise DecodeError(_PARSING + error)


def _refusal(error: DecodeError, kind: str, body: Any) -> str:
    """Upstream: transformDecodeError"""
    if error.about is None:
        return f"the object provided is unrecognized (must be of type {kind}): {error.message} ({_summary(sent(body))})"
    said, version = error.about
    return f"{said} in version {go.quote(version)} cannot be handled as a {kind}: {error.message}"


def refused(error: DecodeError, kind: str, version: str) -> BadRequest:
    """The answer to an object of the right kind that cannot be converted."""
    error.about = kind, version
    return BadRequest(_refusal(error, kind, b""))


def _summary(body: bytes) -> str:
    """Upstream: summarizeData"""
    if not body:
        return "<empty>"
    start = body[:_SHOWN]
    shown = jsontext.text(start) if body.startswith(b"{") else start.hex()
    return f"{shown} ..." if len(body) > _SHOWN else shown


def unknown_conversion(source: str, target: str) -> str:
    return f"converting ({source}) to ({target}): unknown conversion"
