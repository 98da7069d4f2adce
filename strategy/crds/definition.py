"""Rules of CustomResourceDefinitions, in the server's order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context
from podstrat.strategy.crds import (
    cel_rules,
    conversion_rules,
    default_rules,
    internal_text,
    names,
    schema_rules,
    string_formats,
    structural,
    version_rules,
)
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.internal_form import Form, placed
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import meta

Object = dict[str, Any]

APPROVAL: Final = "api-approved.kubernetes.io"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")
_APPROVAL_TEXT: Final = f'protected groups must have approval annotation "{APPROVAL}"'
_SEE: Final = ", see https://github.com/kubernetes/enhancements/pull/1111"
_ROOT_KEYS: Final = (
    *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"),
    *("minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items", "properties"),
    *("externalDocs", "example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
)
_ROOT_NAMES: Final = (
    "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems "
    "MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]"
)
_WITH_STATUS: Final = "if the status subresource is enabled"


# ---- create and update -----------------------------------------------------------------------------


def on_create(crd: Object, ctx: Context) -> Errors:
    """Upstream: ValidateCustomResourceDefinition"""
    yield from meta.name(crd["metadata"], _name_form(crd["spec"]))
    yield from meta.common(crd["metadata"], ctx, None)
    form = Form(crd["spec"])
    yield from map(placed, _spec(form, None, ctx, False))
    yield from _rest(crd, form, None)


def on_update(crd: Object, old: Object, ctx: Context) -> Errors:
    """Upstream: ValidateCustomResourceDefinitionUpdate"""
    yield from _metadata_update(crd, old, ctx)
    form, before = Form(crd["spec"]), Form(old["spec"])
    established = is_true(old, "Established")
    yield from map(placed, _spec(form, before, ctx, established))
    spec, stored = crd["spec"], old["spec"]
    if established:
        yield from _immutable(spec.get("scope"), stored.get("scope"), "spec.scope")
        yield from _immutable(spec["names"]["kind"], stored["names"]["kind"], "spec.names.kind")
    yield from _immutable(spec["group"], stored["group"], "spec.group")
    yield from _immutable(spec["names"]["plural"], stored["names"]["plural"], "spec.names.plural")
    yield from _rest(crd, form, old)


def on_status_update(crd: Object, old: Object, ctx: Context) -> Errors:
    """Upstream: ValidateUpdateCustomResourceDefinitionStatus"""
    yield from _metadata_update(crd, old, ctx)
    yield from names.rules(crd["status"].get("acceptedNames") or {}, "status.acceptedNames")


def is_true(crd: Object, kind: str) -> bool:
    """Whether a condition of a definition is True."""
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _name_form(spec: Object) -> validation.Format:
    expected = f"{spec['names']['plural']}.{spec['group']}"

    def form(text: str) -> validation.Messages:
        other = () if text == expected else ('must be spec.names.plural+"."+spec.group',)
        return (*validation.dns_subdomain(text), *other)

    return form


def _metadata_update(crd: Object, old: Object, ctx: Context) -> Errors:
    label_errors = list(meta.labels_and_owners(crd["metadata"], ctx))
    yield from meta.on_write(crd["metadata"], ctx, label_errors)
    yield from meta.on_update(crd["metadata"], old["metadata"], label_errors)
    yield from meta.on_update(crd["metadata"], old["metadata"], label_errors)


def _immutable(value: Any, old: Any, at: str) -> Errors:
    if value != old:
        yield field.invalid(at, value, "field is immutable")


def _rest(crd: Object, form: Form, old: Object | None) -> Errors:
    """What is asked after the spec: the status, the approval of protected groups, and the old way to preserve unknown fields."""
    status = crd.get("status") or {}
    yield from names.rules(status.get("acceptedNames") or {}, "status.acceptedNames")
    yield from _stored_versions(status.get("storedVersions"), form)
    yield from _approval(crd, old)
    if crd["spec"].get("preserveUnknownFields") and not (old and old["spec"].get("preserveUnknownFields")):
        text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield field.invalid("spec.preserveUnknownFields", True, text)


def _stored_versions(stored: list[str] | None, form: Form) -> Errors:
    """Upstream: ValidateCustomResourceDefinitionStoredVersions"""
    at, versions = "status.storedVersions", form.versions
    if not stored:
        yield field.invalid(at, stored, "must have at least one stored version")
        return
    version_names = {version["name"] for version in versions}
    for version in versions:
        if version.get("storage") and version["name"] not in stored:
            yield field.invalid(at, stored, f"must have the storage version {version['name']}")
    for i, name in enumerate(stored):
        if name not in version_names:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a "
                f"storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            )
            yield field.invalid(f"{at}[{i}]", name, text)


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return any(group == each or group.endswith(f".{each}") for each in _PROTECTED)


def _approval(crd: Object, old: Object | None) -> Errors:
    """Upstream: validateAPIApproval"""
    if not is_protected(crd["spec"]["group"]):
        return
    state, value = approval(crd)
    if state in ("approved", "bypassed") or (old is not None and approval(old)[0] == state):
        return
    at = f"metadata.annotations[{APPROVAL}]"
    if state == "missing":
        yield field.required(at, _APPROVAL_TEXT + _SEE)
    else:
        yield field.invalid(at, value, f'{_APPROVAL_TEXT} with either a URL or a reason starting with "unapproved"{_SEE}')


def approval(crd: Object) -> tuple[str, str]:
    """Whether a definition of a protected group is approved, and its annotation.

    Upstream: apihelpers.GetAPIApprovalState
    """
    value = (crd["metadata"].get("annotations") or {}).get(APPROVAL, "")
    if not value:
        return "missing", value
    if value.startswith("unapproved"):
        return "bypassed", value
    scheme, mark, rest = value.partition("://")
    return ("approved" if mark and scheme.isalpha() and rest.partition("/")[0] else "invalid"), value


# ---- the spec --------------------------------------------------------------------------------------


def _spec(form: Form, old: Form | None, ctx: Context, established: bool) -> Errors:
    """Upstream: validateCustomResourceDefinitionSpec"""
    spec = form.spec
    yield from _group_and_scope(spec)
    if not (form.top("schema") or {}).get("openAPIV3Schema"):
        for i, version in enumerate(form.versions):
            if form.schema_of(version) is None:
                yield field.required(f"spec.versions[{i}].schema.openAPIV3Schema")
    for i, version in enumerate(form.versions):
        yield from _version(version, form, old, f"spec.versions[{i}]", ctx)
    yield from _version_list(form)
    for key in ("plural", "singular", "kind", "listKind"):
        if not spec["names"].get(key):
            yield field.required(f"spec.names.{key}")
    yield from names.rules(spec["names"], "spec.names")
    top = form.top("schema")
    if top is not None and top.get("openAPIV3Schema") is not None:
        before = None if old is None else _unchanged_schema(old, top["openAPIV3Schema"])
        yield from schema(top["openAPIV3Schema"], "spec.validation.openAPIV3Schema", form.has_status, ctx, before)
    yield from version_rules.subresources(form.top("subresources"), "spec.subresources")
    yield from version_rules.columns(form.top("additionalPrinterColumns"), "spec.additionalPrinterColumns")
    shared = form.schema_of(form.versions[0]) if form.versions else None
    yield from version_rules.selectable(form.top("selectableFields"), shared, "spec.selectableFields")
    yield from conversion_rules.rules(spec.get("conversion") or {}, established)


def _group_and_scope(spec: Object) -> Errors:
    group, scope = spec["group"], spec["scope"]
    if not group:
        yield field.required("spec.group")
    elif faults := validation.dns_subdomain(group):
        yield field.invalid("spec.group", group, ",".join(faults))
    elif "." not in group:
        yield field.invalid("spec.group", group, "should be a domain with at least one dot")
    if not scope:
        yield field.required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield field.not_supported("spec.scope", scope, ("Cluster", "Namespaced"))


def _version(version: Object, form: Form, old: Form | None, at: str, ctx: Context) -> Errors:
    """Upstream: validateCustomResourceDefinitionVersion"""
    yield from names.label(version["name"], f"{at}.name")
    yield from version_rules.deprecation(version, at)
    own = (form.own(version, "schema") or {}).get("openAPIV3Schema")
    if own is not None:
        has_status = "status" in (version.get("subresources") or {})
        before = None if old is None else _unchanged_schema(old, own)
        yield from schema(own, f"{at}.schema.openAPIV3Schema", has_status, ctx, before)
    yield from version_rules.subresources(form.own(version, "subresources"), f"{at}.subresources")
    columns = form.own(version, "additionalPrinterColumns")
    yield from version_rules.columns(columns, f"{at}.additionalPrinterColumns")
    yield from version_rules.selectable(form.own(version, "selectableFields"), form.schema_of(version), f"{at}.selectableFields")


def _unchanged_schema(old: Form, value: Object) -> Object | None:
    return next((value for version in old.versions if old.schema_of(version) == value), None)


def _version_list(form: Form) -> Errors:
    every = [version["name"] for version in form.versions]
    text = None
    if len(set(every)) < len(every):
        text = internal_text.versions(form.spec.get("versions"), form.moved)
        yield field.invalid("spec.versions", every, "must contain unique version names", show=text)
    if sum(bool(version.get("storage")) for version in form.versions) != 1:
        text = text or internal_text.versions(form.spec.get("versions"), form.moved)
        yield field.invalid("spec.versions", every, "must have exactly one version marked as storage version", show=text)
    if every and every[0]:
        yield from names.label(every[0], "spec.version")


# ---- a schema --------------------------------------------------------------------------------------


def schema(value: Object, at: str, has_status: bool, ctx: Context, unchanged: Object | None = None) -> Errors:
    """The rules of one schema; ``unchanged`` is given if the stored definition has it already.

    Upstream: validateCustomResourceDefinitionValidation
    """
    reported = False
    for error in _schema(value, at, has_status, ctx, unchanged):
        reported = True
        yield error
    if not reported and (text := structural.unsupported(value)):
        yield field.invalid(at, "", text)


def _schema(value: Object, at: str, has_status: bool, ctx: Context, unchanged: Object | None) -> Errors:
    if has_status:
        yield from _root_with_status(value, at)
    if value.get("nullable"):
        yield field.forbidden(f"{at}.nullable", "nullable cannot be true at the root")
    node: Node | None = None
    if not structural.unsupported(value):
        faults = list(structural.rules(value, at))
        if not faults:
            node = Node(value, ctx.version, root=True)
            faults = list(default_rules.rules(node, at, ctx.version, cel_rules.about_default(ctx)))
        node = None if faults else node
        yield from faults
    sound: set[str] = set()
    yield from schema_rules.rules(value, schema_rules.Place(at, root=True), sound)
    if node is not None:
        yield from cel_rules.of_schema(node, at, sound, ctx, unchanged is not None)


def _root_with_status(value: Object, at: str) -> Errors:
    """What may stand at the root if the status has an endpoint of its own: the first field that may not is told.

    The server goes through the fields of its struct; three that may not be there come before the type.
    """
    kind = value.get("type") or "object"
    if kind != "object" and value.keys().isdisjoint(("id", "$schema", "$ref")):
        text = f'only "object" is allowed as the type at the root of the schema {_WITH_STATUS}'
        yield field.invalid(f"{at}.type", kind, text)
    elif value.keys() - set(_ROOT_KEYS):
        text = f"only {_ROOT_NAMES} fields are allowed at the root of the schema {_WITH_STATUS}"
        yield field.invalid(at, value, text, show=internal_text.schema(value))


# ---- warnings --------------------------------------------------------------------------------------


def warnings(crd: Object, old: Object | None, ctx: Context) -> Iterator[str]:
    """What is said about an accepted definition, and was not said before.

    Upstream: customResourceDefinitionStrategy.WarningsOnCreate
    """
    before = set() if old is None else set(_warnings(old, ctx))
    for text in _warnings(crd, ctx):
        if text not in before:
            yield text


def _warnings(crd: Object, ctx: Context) -> Iterator[str]:
    form = Form(crd["spec"])
    for version in form.versions[:1] if "schema" in form.moved else form.versions:
        value = form.schema_of(version)
        if value is not None:
            yield from dict.fromkeys(_formats(value, ctx))
    if ctx.version >= V1_37:
        for version in form.versions[:1] if "schema" in form.moved else form.versions:
            yield from dict.fromkeys(_odd_sets(form.schema_of(version) or {}))


def _formats(value: Object, ctx: Context) -> Iterator[str]:
    form = value.get("format")
    if form and not string_formats.is_recognized(form, value.get("type", ""), ctx.version):
        yield f"unrecognized format {go.quote(form)}"
    for inner in structural.children(value):
        yield from _formats(inner, ctx)


def _odd_sets(value: Object) -> Iterator[str]:
    items = value.get("items") or {}
    if value.get("x-kubernetes-list-type") == "set" and items.get("type") in ("object", "array"):
        yield (
            f"x-kubernetes-list-type: set for items of type {go.quote(items['type'])} is not supported by server-side apply or "
            "CEL validation rules"
        )
    for inner in structural.children(value):
        yield from _odd_sets(inner)
