"""The strategy of custom objects: prepare steps, rules and warnings, made from a version of a definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from podstrat.strategy import errors, field
from podstrat.strategy.context import Context
from podstrat.strategy.crds import cel_rules, embedded, json_path, list_types, pruning, value_rules
from podstrat.strategy.crds.correlation import MISSING
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors, FieldError
from podstrat.strategy.formats import go
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion

if TYPE_CHECKING:
    from podstrat.strategy.crds.resource import Version

Object = dict[str, Any]

_INT32: Final = (1 << 31) - 1
_BLOCKING: Final = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
_UNCHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
)


def strategy(version: Version) -> Strategy:
    """Upstream: customResourceStrategy, statusStrategy"""
    rules = _Rules(version)
    updates = {"": Update(rules.for_update, rules.update, rules.update_warnings)}
    if version.has_status:
        updates["status"] = Update(rules.for_status, rules.status_update, rules.status_warnings)
    return Strategy(
        default=_no_default,
        create=Create(rules.for_create, rules.create, rules.create_warnings),
        updates=updates,
        delete=deletion.background,
        reset={"": (("status",),), "status": (("spec",), ("metadata",))} if version.has_status else {},
        read_back=rules.read_back,
        needs_version=True,
    )


def _no_default(obj: Object, ctx: Context, filled: bool) -> None:
    """Decoding has filled in the defaults."""


class _Rules:
    """What happens to the objects of one version."""

    def __init__(self, version: Version) -> None:
        self._version = version

    # ---- prepare -------------------------------------------------------------------------------------

    def for_create(self, obj: Object, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
        self._check_kind(obj)
        if self._version.has_status:
            obj.pop("status", None)
        obj["metadata"]["generation"] = 1
        return [], []

    def for_update(self, obj: Object, old: Object, ctx: Context, seen: Seen) -> tuple[Object, Dropped]:
        """The status stays where it has an endpoint of its own; any other change but of metadata counts."""
        self._check_kind(obj)
        if self._version.has_status:
            _keep(obj, old, "status")
        _keep(obj["metadata"], old["metadata"], "generation")
        if {**obj, "metadata": None} != {**old, "metadata": None}:
            obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        return obj, []

    def for_status(self, obj: Object, old: Object, ctx: Context, seen: Seen) -> tuple[Object, Dropped]:
        """Nothing but the status is taken."""
        self._check_kind(obj)
        metadata = dict(old["metadata"])
        _keep(metadata, obj["metadata"], "managedFields")
        result = {**old, "metadata": metadata}
        _keep(result, obj, "status")
        return result, []

    def _check_kind(self, obj: Object) -> None:
        """Upstream: customResourceValidator.ValidateTypeMeta"""
        kind = self._version.kind
        if obj.get("kind") != kind.kind:
            fault = field.invalid("kind", obj.get("kind"), f"must be {kind.kind}")
            raise errors.Invalid(str(obj.get("kind")), obj["metadata"].get("name", ""), [fault], kind.group)

    def read_back(self, obj: Object, ctx: Context) -> Object:
        """What storage gives back: whole numbers as such, and what is pruned and defaulted again."""
        return pruning.through(settled(obj), self._version.node)

    # ---- rules ---------------------------------------------------------------------------------------

    def create(self, obj: Object, ctx: Context) -> Errors:
        faults = [*meta.name(obj["metadata"]), *meta.common(obj["metadata"], ctx, None)]
        faults += value_rules.errors(obj, self._version.node, ctx.version)
        faults += [*self._scale_spec(obj), *self._scale_status(obj)]
        faults += embedded.rules(obj, self._version.node, "", ctx.version, skip_root=True)
        faults += list_types.rules(obj, self._version.node)
        yield from faults
        yield from self._cel(obj, MISSING, faults, ctx)

    def update(self, obj: Object, old: Object, ctx: Context) -> Errors:
        faults = self._metadata_update(obj, old, ctx)
        faults += value_rules.errors(obj, self._version.node, ctx.version, "", old)
        faults += [*self._scale_spec(obj), *self._scale_status(obj)]
        faults += embedded.rules(obj, self._version.node, "", ctx.version, skip_root=True)
        faults += self._new_list_faults(obj, old)
        yield from faults
        yield from self._cel(obj, old, faults, ctx)

    def status_update(self, obj: Object, old: Object, ctx: Context) -> Errors:
        faults = self._metadata_update(obj, old, ctx)
        status = self._version.node.properties.get("status")
        if "status" in obj and status is not None:
            faults += value_rules.errors(obj["status"], status, ctx.version, "status", old.get("status", MISSING))
        faults += self._scale_status(obj)
        faults += self._new_list_faults(obj, old)
        yield from faults
        yield from self._cel(obj, old, faults, ctx)

    def _metadata_update(self, obj: Object, old: Object, ctx: Context) -> list[FieldError]:
        """The generic rules, and then the strategy's own, which repeat some of them.

        Upstream: rest.BeforeUpdate, customResourceValidator.ValidateUpdate
        """
        label_errors = list(meta.labels_and_owners(obj["metadata"], ctx))
        again = list(meta.on_update(obj["metadata"], old["metadata"], label_errors))
        return [*meta.on_write(obj["metadata"], ctx, label_errors), *again, *again]

    def _new_list_faults(self, obj: Object, old: Object) -> Errors:
        """An object whose stored lists break the rules already may go on doing so."""
        if not any(list_types.rules(old, self._version.node)):
            yield from list_types.rules(obj, self._version.node)

    def _cel(self, obj: Object, old: Any, faults: list[FieldError], ctx: Context) -> Errors:
        if not self._version.node.rules_below:
            return
        if any(error.type in _BLOCKING for error in faults):
            yield FieldError("FieldValueInvalid", "<nil>", None, _UNCHECKED, "null")
            return
        yield from cel_rules.of_object(self._version, obj, old, ctx)

    # ---- scale ---------------------------------------------------------------------------------------

    def _scale_spec(self, obj: Object) -> Errors:
        if self._version.scale is not None:
            yield from replicas(obj, self._version.scale["specReplicasPath"])

    def _scale_status(self, obj: Object) -> Errors:
        """Upstream: ValidateScaleStatus"""
        scale = self._version.scale
        if scale is None or not isinstance(obj.get("status"), dict):
            return
        yield from replicas(obj, scale["statusReplicasPath"])
        path: str = scale.get("labelSelectorPath") or ""
        selector = json_path.read(obj, path) if path else MISSING
        if selector is not MISSING and not isinstance(selector, str):
            yield _accessor(path, selector, "string", "")

    # ---- warnings ------------------------------------------------------------------------------------

    def create_warnings(self, obj: Object, ctx: Context) -> Iterator[str]:
        return finalizer_warnings(obj["metadata"].get("finalizers") or (), ())

    def update_warnings(self, obj: Object, old: Object, ctx: Context) -> Iterator[str]:
        yield from finalizer_warnings(obj["metadata"].get("finalizers") or (), old["metadata"].get("finalizers") or ())
        yield from cel_rules.ratcheted(self._version, obj, old, ctx)

    def status_warnings(self, obj: Object, old: Object, ctx: Context) -> Iterator[str]:
        return cel_rules.ratcheted(self._version, obj, old, ctx)


def _keep(holder: Object, stored: Object, key: str) -> None:
    if key in stored:
        holder[key] = stored[key]
    else:
        holder.pop(key, None)


def settled(value: Any) -> Any:
    """A copy with keys in order; a float without a fraction prints as an integer."""
    if isinstance(value, dict):
        return {key: settled(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [settled(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def replicas(obj: Object, path: str) -> Errors:
    """A number of replicas is not negative, and has 32 bits.

    Upstream: ValidateScaleSpec
    """
    value = json_path.read(obj, path)
    if value is MISSING:
        return
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        yield _accessor(path, value, "int64", 0)
    elif value < 0:
        yield field.invalid(path, value, "should be a non-negative integer")
    elif value > _INT32:
        yield field.invalid(path, value, f"should be less than or equal to {_INT32}")


def _accessor(path: str, value: Any, expected: str, zero: Any) -> FieldError:
    from podstrat.strategy.patch import goprint

    kind = "<nil>" if value is None else goprint.go_types[type(value)]
    text = f"{path} accessor error: {goprint.plain(value)} is of the type {kind}, expected {expected}"
    return field.invalid(path, zero, text)


def finalizer_warnings(finalizers: Any, old: Any) -> Iterator[str]:
    """A finalizer of one's own has a domain and a path.

    Upstream: finalizer warnings of rest.WarningsOnCreate
    """
    for finalizer in sorted(set(finalizers) - set(old)):
        if "/" in finalizer or finalizer in meta.STANDARD_FINALIZERS:
            continue
        name = "name including a path (/)" if "." in finalizer else "name"
        yield (
            f"metadata.finalizers: {go.quote(finalizer)}: prefer a domain-qualified finalizer {name} to avoid accidental "
            "conflicts with other finalizer writers"
        )
