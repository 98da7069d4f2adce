"""The strategy and the rules of ConfigMaps."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion

MAX_SIZE = 1024 * 1024  # upstream: MaxSecretSize, for ConfigMaps too
IMMUTABLE = "field is immutable when `immutable` is set"


def rules(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: ValidateConfigMap"""
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        yield from keys(key, "data")
        if key in binary:
            yield field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData", ("data", key))
    for key in binary:
        yield from keys(key, "binaryData")
    if sum(len(text.encode()) for text in data.values()) + sum(map(decoded_size, binary.values())) > MAX_SIZE:
        yield field.too_long("[]", MAX_SIZE, ("data",))


def keys(key: str, at: str) -> Errors:
    """Keys are names of files."""
    yield from validation.each(f"{at}[{key}]", key, validation.config_key(key), (at, key))


def decoded_size(text: str | None) -> int:
    """How many bytes a text in base64 stands for."""
    return len(text) // 4 * 3 - text.count("=") if text else 0


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateConfigMapUpdate"""
    yield from plain.updating(obj, old, ctx)
    yield from unchanged(obj, old, "data", "binaryData")
    yield from rules(obj, ctx, list(meta.labels_and_owners(obj["metadata"], ctx)))


def unchanged(obj: Pod, old: Pod, *names: str) -> Errors:
    """What is stored as immutable stays so, and stays as it is."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield field.forbidden("immutable", IMMUTABLE)
    for name in names:
        if (obj.get(name) or {}) != (old.get(name) or {}):
            yield field.forbidden(name, IMMUTABLE)


STRATEGY = Strategy(
    default=plain.no_default,
    create=Create(plain.as_sent, rules, plain.silent),
    updates={"": Update(plain.keep_metadata, update_rules, plain.no_warnings)},
    delete=deletion.background,
)
