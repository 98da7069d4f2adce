"""Request options: the query parameters, and DeleteOptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podstrat.strategy import errors, field
from podstrat.strategy.context import V1_37, Version
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta

META_GROUP = "meta.k8s.io"
FIELD_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
PROPAGATION_POLICIES = ("Foreground", "Background", "Orphan")
UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
NOT_WITH_UNSAFE = ("propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions")


def check(request: Request) -> None:
    """The options of a write are known ones.

    Upstream: ValidateCreateOptions, ValidateUpdateOptions, ValidatePatchOptions
    """
    if not request.options and request.patch_type != "apply":
        return
    kind = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}[request.verb]
    if faults := list(_faults(request)):
        raise errors.Invalid(kind, "", faults, META_GROUP)


def _faults(request: Request) -> Errors:
    if request.patch_type == "apply":
        if not one(request, "fieldManager"):
            yield field.required("fieldManager", "is required for apply patch")
    elif request.verb == "patch" and several(request.options, "force"):
        yield field.forbidden("force", "may not be specified for non-apply patch")
    yield from meta.manager_name(one(request, "fieldManager"), "fieldManager")
    yield from _dry_run(several(request.options, "dryRun"))
    validation = one(request, "fieldValidation")
    if validation not in FIELD_VALIDATIONS:
        detail = "supported values: " + go.joined(list(FIELD_VALIDATIONS))
        yield field.FieldError("FieldValueNotSupported", "fieldValidation", validation, detail, go.quote(validation))


def _dry_run(values: Sequence[str]) -> Errors:
    if any(value != "All" for value in values):
        yield field.not_supported("dryRun", list(values), ["All"])


def one(request: Request, name: str) -> str:
    """An option that is given once; empty where it is not given."""
    values = several(request.options, name)
    return values[0] if values else ""


def several(options: Mapping[str, str | Sequence[str]], name: str) -> Sequence[str]:
    value = options.get(name)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def is_forced(request: Request) -> bool:
    """Whether an apply takes over what others own."""
    return _is_true(several(request.options, "force"))


def _is_true(values: Sequence[str]) -> bool:
    """An option that is there is true unless it says otherwise, even if it says nothing.

    Upstream: runtime.Convert_Slice_string_To_bool
    """
    return bool(values) and values[0].lower() not in ("0", "false")


def is_dry_run(request: Request) -> bool:
    return bool(several(request.options, "dryRun"))


def delete_from_query(request: Request) -> dict[str, Any]:
    """DeleteOptions of a request without a body."""
    options: dict[str, Any] = {}
    if dry_run := several(request.options, "dryRun"):
        options["dryRun"] = list(dry_run)
    if policy := one(request, "propagationPolicy"):
        options["propagationPolicy"] = policy
    if grace := one(request, "gracePeriodSeconds"):
        try:
            options["gracePeriodSeconds"] = int(grace)
        except ValueError:
            raise errors.BadRequest(f"strconv.ParseInt: parsing {go.quote(grace)}: invalid syntax") from None
    for name in ("orphanDependents", UNSAFE):
        if words := several(request.options, name):
            options[name] = _is_true(words)
    if preconditions := {name: value for name in ("uid", "resourceVersion") if (value := one(request, name))}:
        options["preconditions"] = preconditions
    return options


def check_delete(options: Mapping[str, Any], version: Version) -> None:
    """Upstream: ValidateDeleteOptions"""
    if faults := list(_delete_faults(options, version)):
        raise errors.Invalid("DeleteOptions", "", faults, META_GROUP)


def _delete_faults(options: Mapping[str, Any], version: Version) -> Errors:
    policy = options.get("propagationPolicy")
    if policy is not None and options.get("orphanDependents") is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        yield field.invalid("propagationPolicy", policy, text, show=go.to_json(policy))
    if policy is not None and policy not in PROPAGATION_POLICIES:
        yield field.not_supported("propagationPolicy", policy, [*PROPAGATION_POLICIES, "nil"])
    yield from _dry_run(options.get("dryRun") or ())
    if options.get(UNSAFE):
        # A dry run of it is allowed since 1.37.
        for name in NOT_WITH_UNSAFE if version >= V1_37 else ("dryRun", *NOT_WITH_UNSAFE):
            value = options.get(name)
            if value is not None and value != []:
                yield field.invalid(UNSAFE, True, f"cannot be set together with .{name}")
