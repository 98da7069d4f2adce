"""Volumes: unique names, and exactly one source each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field, rules
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors, Finds
from podstrat.strategy.formats import go, validation

NO_SOURCE = "must specify a volume type"
ONE_SOURCE = "may not specify more than 1 volume type"
NOT_A_MADE_CLAIM = "must not reference a PVC that gets created for an ephemeral volume"
PORTAL_LENGTH = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
)

_SPELLED = {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}
"""How the server spells a source that is one too many, where that is not its name."""


def each(volumes: Sequence[dict[str, Any]], at: str, ctx: Context, pod_name: str) -> Finds[dict[str, dict[str, Any]]]:
    """Each volume has a name of its own and one source. Returns by name those that nothing is wrong with.

    A name may be used again after a volume that was itself refused. ``pod_name`` is "" where it is not known, as in templates.
    Upstream: ValidateVolumes
    """
    claim_names = {f"{pod_name}-{volume['name']}" for volume in volumes if "ephemeral" in volume} if pod_name else ()
    good: dict[str, dict[str, Any]] = {}
    for i, volume in enumerate(volumes):
        name = volume["name"]
        errors = list(_source(volume, f"{at}[{i}]", ctx, pod_name))
        if name in good or validation.dns_label(name):
            errors += _name(name, f"{at}[{i}].name", good)
        if errors:
            yield from errors
        else:
            good[name] = volume
        if claim_names and "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            # A fault of the two volumes together: neither is refused for it.
            if claim in claim_names:
                yield field.invalid(f"{at}[{i}].persistentVolumeClaim.claimName", claim, NOT_A_MADE_CLAIM)
    return good


def _name(name: str, at: str, by_name: dict[str, dict[str, Any]]) -> Errors:
    """The name is a DNS label that no volume before has."""
    if not name:
        yield field.required(at)
    elif faults := validation.dns_label(name):
        yield from validation.each(at, name, faults)
    if name in by_name:
        yield field.duplicate(at, name)


def _source(volume: dict[str, Any], at: str, ctx: Context, pod_name: str) -> Errors:
    """A volume has one source. Of several, the first in the server's order is looked into.

    Upstream: validateVolumeSource
    """
    first = ""
    # Whatever is beside the name is a source, so that a single one need not be looked for.
    for kind in volume if len(volume) == 2 else rules.volume_sources.RULES:
        if kind == "name" or kind not in volume:
            continue
        if not first:
            first = kind
            yield from rules.volume_sources.RULES[kind](volume[kind], f"{at}.{kind}", ctx)
        else:
            yield field.forbidden(f"{at}.{_SPELLED.get(kind, kind)}", ONE_SOURCE, field.place_of(f"{at}.{kind}"))
        if kind == "iscsi":
            yield from _portal_length(volume, at)
        elif first == kind == "ephemeral" and pod_name and volume["name"]:
            yield from _made_claim(volume["name"], at, pod_name)
    if not first:
        yield field.required(at, NO_SOURCE)


def _portal_length(volume: dict[str, Any], at: str) -> Errors:
    """Name and portal of an iSCSI volume with an initiator name make a name of their own. Asked of a second source as well."""
    iscsi = volume["iscsi"]
    if "initiatorName" in iscsi and len(f"{volume['name']}:{iscsi['targetPortal']}".encode()) > 64:
        yield field.invalid(f"{at}.name", volume["name"], PORTAL_LENGTH)


def _made_claim(name: str, at: str, pod_name: str) -> Errors:
    """The claim that an ephemeral volume makes is named after pod and volume, and that is a DNS subdomain."""
    claim = f"{pod_name}-{name}"
    for fault in validation.dns_subdomain(claim):
        yield field.invalid(f"{at}.name", name, f"PVC name {go.quote(claim)}: {fault}")
