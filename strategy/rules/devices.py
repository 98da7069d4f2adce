"""What claims, device classes and resource slices have in common: names, opaque configurations, tolerations, taints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.api import key_order
from podstrat.strategy.context import V1_35, V1_36, Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules.declarative import covered

DRIVER_LIMIT, POOL_LIMIT, NAME_LIMIT = 63, 253, 32
KEY_LIMIT = DRIVER_LIMIT + 1 + NAME_LIMIT  # a driver, a slash, a name
PARAMETERS_LIMIT = 10 * 1024  # upstream: OpaqueParametersMaxLength
BINDING_LIMIT = 4  # upstream: BindingConditionsMaxSize
OPERATORS = ("Equal", "Exists")
NO_DOMAIN = "a fully qualified name must be a domain and a name separated by a slash"
NOT_AN_OBJECT = "must be a valid JSON object"
FOR_BINDING = "bindingFailureConditions are required to use bindingConditions"
FOR_FAILURE = "bindingConditions are required to use bindingFailureConditions"
OVERLAP = "bindingFailureConditions must not overlap with bindingConditions"
NORMAL_UID = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
)

_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_DOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
C_IDENTIFIER = validation.pattern_text(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    _C_IDENTIFIER,
    "my_name",
    "MY_NAME",
    "MyName",
)
ANY_CASE = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
    f"character (e.g. 'Example.com', regex used for validation is '{_DOMAIN}')"
)
_identifier = re.compile(_C_IDENTIFIER, re.ASCII).fullmatch
_domain = re.compile(_DOMAIN).fullmatch
_uuid = re.compile("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}").fullmatch

Each = Callable[[Any, str], Errors]


# ---- lists -----------------------------------------------------------------------------------------


def at_most(items: Sequence[Any], limit: int, at: str) -> Errors:
    """A list that is too long is not looked at any further. Upstream: validateSlice"""
    if len(items) > limit:
        yield field.too_many(at, len(items), limit)


def unique(
    items: Sequence[Any], keys: Iterable[Any], at: str, suffix: str, show: Callable[[Any, Any], str] | None = None
) -> Errors:
    """No two items have the same key. ``suffix`` is the field of the key, which 1.34 has in the path.

    Upstream: validateSet
    """
    seen = set()
    for i, (item, key) in enumerate(zip(items, keys, strict=True)):
        if key in seen:
            path = f"{at}[{i}]"
            yield field.duplicate(path + suffix, key, field.place_of(path), show=None if show is None else show(item, key))
        seen.add(key)


def unique_by(items: Sequence[Pod], key: str, type_name: str, at: str, ctx: Context) -> Errors:
    """Declared lists of objects with a key: a duplicate is told by the key, by declarations as the whole item."""

    def show(item: Pod, value: str) -> str:
        return versioned(item, type_name, ctx) if ctx.declares else field.shown(value)

    suffix = f".{key}" if ctx.version < V1_35 else ""
    yield from covered(unique(items, [item.get(key, "") for item in items], at, suffix, show))


def versioned(item: Pod, type_name: str, ctx: Context) -> str:
    """An object as declarations print it: as on the wire."""
    return go.to_json(key_order.ordered(codec.prune(item, type_name, ctx.types), type_name, ctx.types))


def texts(items: Sequence[str], limit: int, at: str, each: Each) -> Errors:
    """A declared set of texts."""
    if len(items) > limit:
        yield from covered(at_most(items, limit, at))
        return
    for i, item in enumerate(items):
        yield from each(item, f"{at}[{i}]")
    yield from covered(unique(items, items, at, ""))


# ---- names -----------------------------------------------------------------------------------------


def driver(name: str, at: str, ctx: Context) -> Errors:
    """A driver has the name of a domain, in any case.

    Upstream: ValidateCSIDriverName
    """
    if not name:
        yield field.required(at)
        if ctx.version >= V1_35:
            return
    if len(name.encode()) > DRIVER_LIMIT:
        yield field.too_long(at, DRIVER_LIMIT)
    yield from validation.each(at, name, validation.dns_subdomain(name.lower()))


def declared_driver(name: str, at: str, ctx: Context) -> Errors:
    """The same, where the type declares it."""
    if not ctx.declares or not name:
        yield from covered(driver(name, at, ctx))
    elif len(name) > DRIVER_LIMIT:
        yield from covered([_too_many_characters(at)])
    elif not _domain(name.lower()):
        yield from covered([field.invalid(at, name, ANY_CASE)])


def _too_many_characters(at: str) -> field.FieldError:
    """How declarations word the limit of a driver's name: they count characters."""
    return field.too_long(at, DRIVER_LIMIT)._replace(detail=f"may not be more than {DRIVER_LIMIT} characters")


def pool(name: str, at: str) -> Errors:
    """A pool has the names of domains, with slashes between them.

    Upstream: validatePoolName
    """
    if not name:
        yield field.required(at)
        return
    if len(name.encode()) > POOL_LIMIT:
        yield field.too_long(at, POOL_LIMIT)
    for part in name.split("/"):
        yield from validation.each(at, part, validation.dns_subdomain(part))


def declared_pool(name: str, at: str, ctx: Context) -> Errors:
    """The same, where the type declares it.

    Upstream: ResourcePoolName
    """
    yield from covered(_declared_pool(name, at) if ctx.declares and name else pool(name, at))


def _declared_pool(name: str, at: str) -> Errors:
    if len(name.encode()) > POOL_LIMIT:
        yield field.too_long(at, POOL_LIMIT)
    for i, part in enumerate(name.split("/")):
        if not part:
            yield field.invalid(at, name, f"segment {i}: must not be empty")
            continue
        for fault in _in_bytes(validation.dns_subdomain(part)):
            yield field.invalid(at, part, f"segment {i}: {fault}")


def qualified_name(name: str, at: str, ctx: Context, where: field.Place | None = None) -> Errors:
    """An attribute or a capacity: a C identifier, with or without a domain before it. More slashes are not looked at.

    Upstream: validateQualifiedName
    """
    parts = name.split("/")
    if not name and ctx.version < V1_35:
        yield field.required(at, "name required", where)
    elif len(parts) == 1:
        yield from _c_identifier(name, at, where)
    elif len(parts) == 2:
        domain, identifier = parts
        if not domain:
            yield _empty("the domain must not be empty", at, ctx, where)
        else:
            yield from (error._replace(place=where) for error in driver(domain, at, ctx))
        if not identifier:
            yield _empty("the name must not be empty", at, ctx, where)
        else:
            yield from _c_identifier(identifier, at, where)


def _empty(text: str, at: str, ctx: Context, where: field.Place | None) -> field.FieldError:
    return field.required(at, text, where) if ctx.version < V1_35 else field.invalid(at, "", text, where)


def attribute(name: str, at: str, ctx: Context) -> Errors:
    """An attribute of a constraint is named with its domain.

    Upstream: validateFullyQualifiedName
    """
    yield from covered(_declared_name(name, at) if ctx.declares else qualified_name(name, at, ctx))
    if "/" in name:
        return
    if ctx.version >= V1_35:
        yield from covered([field.invalid(at, name, NO_DOMAIN)])
    elif name:
        yield field.invalid(at, name, "must include a domain")


def _declared_name(name: str, at: str) -> Errors:
    """Upstream: resourcesQualifiedName"""
    parts = name.split("/")
    if len(parts) == 1:
        yield from _c_identifier(name, at, None)
    elif len(parts) == 2:
        prefix, identifier = parts
        if not prefix:
            yield field.invalid(at, "", "prefix must not be empty")
        else:
            if len(prefix.encode()) > DRIVER_LIMIT:
                yield field.too_long(at, DRIVER_LIMIT)
            for fault in _in_bytes(validation.dns_subdomain(prefix)):
                yield field.invalid(at, prefix, f"prefix: {fault}")
        if not identifier:
            yield field.invalid(at, "", "name must not be empty")
        else:
            yield from _c_identifier(identifier, at, None)


def _c_identifier(text: str, at: str, where: field.Place | None) -> Errors:
    if len(text.encode()) > NAME_LIMIT:
        yield field.too_long(at, NAME_LIMIT, where)
    if not _identifier(text):
        yield field.invalid(at, text, C_IDENTIFIER, where)


def _in_bytes(faults: Iterable[str]) -> Iterable[str]:
    """How declarations word the length of a name."""
    return (fault.replace(f"{POOL_LIMIT} characters", f"{POOL_LIMIT} bytes") for fault in faults)


def label(text: str, at: str) -> Errors:
    """A name that is a DNS label."""
    yield from validation.each(at, text, validation.dns_label(text))


def uid(text: str, at: str, ctx: Context) -> Errors:
    """Upstream: validateUID"""
    if ctx.declares:
        if not _uuid(text) or text != text.lower():
            yield from covered([field.invalid(at, text, "must be a lowercase UUID in 8-4-4-4-12 format")])
    elif fault := _uuid_fault(text):
        yield field.invalid(at, text, f"error validating uid: {fault}")
    elif len(text) != 36 or text != text.lower():
        yield field.invalid(at, text, NORMAL_UID)


def _uuid_fault(text: str) -> str:
    """What github.com/google/uuid says of a text: it takes a UUID as a URN, in braces and without dashes as well."""
    size, bare = len(text.encode()), text
    if size == 45:
        if text[:9].lower() != "urn:uuid:":
            return f"invalid urn prefix: {go.quote(text[:9])}"
        bare = text[9:]
    elif size == 38:
        if text[0] != "{" or text[-1] != "}":
            return "invalid bracketed UUID format"
        bare = text[1:-1]
    elif size == 32:
        return "" if re.fullmatch("[0-9A-Fa-f]*", text) else "invalid UUID format"
    elif size != 36:
        return f"invalid UUID length: {size}"
    return "" if _uuid(bare) else "invalid UUID format"


# ---- parts -----------------------------------------------------------------------------------------


def opaque(config: Pod, at: str, ctx: Context, stored: bool) -> Errors:
    """A configuration is for one driver, which alone understands it.

    Upstream: validateDeviceConfiguration, validateOpaqueConfiguration
    """
    inner = config.get("opaque")
    if inner is None:
        yield field.required(f"{at}.opaque")
        return
    yield from declared_driver(inner.get("driver", ""), f"{at}.opaque.driver", ctx)
    yield from raw_object(inner.get("parameters"), f"{at}.opaque.parameters", stored)


def raw_object(value: Any, at: str, stored: bool = False) -> Errors:
    """A JSON object of any content. What is stored may be of any size.

    Upstream: validateRawExtension
    """
    if value is None:
        yield field.required(at)
    elif not stored and len(go.to_json(value).encode()) > PARAMETERS_LIMIT:
        yield field.too_long(at, PARAMETERS_LIMIT)
    elif not isinstance(value, dict):
        yield field.invalid(at, "<value omitted>", NOT_AN_OBJECT)


def effects(ctx: Context) -> tuple[str, ...]:
    """The effects that a taint may have."""
    return ("NoExecute", "NoSchedule", "None") if ctx.version >= V1_35 else ("NoExecute", "NoSchedule")


def toleration(toleration: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateDeviceToleration"""
    key, operator, value = (toleration.get(name, "") for name in ("key", "operator", "value"))
    if key:
        yield from covered(validation.each(f"{at}.key", key, validation.label_key(key, ctx.name_unit)))
    if operator == "Exists":
        if value:
            yield field.invalid(f"{at}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from validation.each(f"{at}.value", value, validation.label_value(value, ctx.name_unit))
    elif not operator:
        yield from covered([field.required(f"{at}.operator")])
    else:
        yield from covered([field.not_supported(f"{at}.operator", operator, OPERATORS)])
    effect = toleration.get("effect", "")
    if effect and effect not in effects(ctx):
        yield from covered([field.not_supported(f"{at}.effect", effect, effects(ctx))])


def taint(taint: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateDeviceTaint"""
    key, value, effect = (taint.get(name, "") for name in ("key", "value", "effect"))
    yield from validation.each(f"{at}.key", key, validation.label_key(key, ctx.name_unit))
    if value:
        yield from validation.each(f"{at}.value", value, validation.label_value(value, ctx.name_unit))
    if not effect:
        yield from covered([field.required(f"{at}.effect")])
    elif effect not in effects(ctx):
        yield from covered([field.not_supported(f"{at}.effect", effect, effects(ctx))])


def binding(holder: Pod, at: str, ctx: Context) -> Errors:
    """Conditions for a pod to be bound, and those under which it is not, come together and are different ones.

    Upstream: validateDeviceBindingParameters
    """
    lists = [holder.get(name) or [] for name in ("bindingConditions", "bindingFailureConditions")]
    for name, items in zip(("bindingConditions", "bindingFailureConditions"), lists, strict=True):
        if len(items) > BINDING_LIMIT:
            yield from covered(at_most(items, BINDING_LIMIT, f"{at}.{name}"))
            continue
        for i, item in enumerate(items):
            yield from validation.each(f"{at}.{name}[{i}]", item, validation.label_key(item, ctx.name_unit))
    binds, fails = lists
    yield from unique(binds, binds, f"{at}.bindingConditions", "")
    bound, seen = set(binds), set[str]()
    for i, item in enumerate(fails):
        path = f"{at}.bindingFailureConditions[{i}]"
        if item in seen:
            yield field.duplicate(path, item)
        seen.add(item)
        if item in bound:
            yield field.invalid(path, item, OVERLAP)
    if fails and not binds:
        yield field.invalid(f"{at}.bindingConditions", holder.get("bindingConditions"), FOR_FAILURE)
    if binds and not fails:
        yield field.invalid(f"{at}.bindingFailureConditions", holder.get("bindingFailureConditions"), FOR_BINDING)


def key_path(at: str, key: str, ctx: Context) -> str:
    """The path of a fault in a key of a map: since 1.36 that of the map itself. Upstream: validateMap"""
    return at if ctx.version >= V1_36 else f"{at}[{shortened(key)}]"


def shortened(key: str, limit: int = KEY_LIMIT) -> str:
    """A long key with its middle left out. Upstream: truncateIfTooLong"""
    if len(key) <= limit:
        return key
    length = limit - len("...")
    return f"{key[: (length + 1) // 2]}...{key[len(key) - length // 2 :]}"
