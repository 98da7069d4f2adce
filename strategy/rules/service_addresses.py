"""Service addresses: clusterIPs, ipFamilies and ipFamilyPolicy, alone and against each other."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.allocation import IPV4, IPV6, family_of
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

NONE = "None"
FAMILIES = (IPV4, IPV6)
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
UNCHANGED = "may not change once set"


def is_headless(spec: Pod) -> bool:
    return spec.get("clusterIPs") == [NONE]


def related(spec: Pod, old: Pod | None, ctx: Context) -> Errors:
    """clusterIP and clusterIPs agree, families and addresses are known ones, one of each family, and match.

    Upstream: ValidateServiceClusterIPsRelatedFields
    """
    if spec.get("type") == "ExternalName":
        return
    yield from _in_step(spec)
    seen = set[str]()
    for i, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in FAMILIES:
            yield field.not_supported(f"spec.ipFamilies[{i}]", family, FAMILIES)
        if family in seen:
            yield field.duplicate(f"spec.ipFamilies[{i}]", family)
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in POLICIES:
        yield field.not_supported("spec.ipFamilyPolicy", policy, POLICIES)
    faults = list(_addresses(spec.get("clusterIPs") or (), (old or {}).get("clusterIPs") or (), ctx))
    yield from faults
    if len(spec.get("clusterIPs") or ()) > 2:
        yield field.invalid("spec.clusterIPs", spec["clusterIPs"], "may only hold up to 2 values")
    if not faults:
        yield from _families_match(spec)


def _in_step(spec: Pod) -> Errors:
    single, plural = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    if plural and single and plural[0] != single:
        yield field.invalid("spec.clusterIPs", plural, "first value must match `clusterIP`")
    elif plural and not single:
        yield field.invalid("spec.clusterIPs", plural, "must be empty when `clusterIP` is not specified")


def _addresses(texts: Sequence[str], before: Sequence[str], ctx: Context) -> Errors:
    for i, text in enumerate(texts):
        if i == 0 and text == NONE:
            if len(texts) > 1:
                yield field.invalid("spec.clusterIPs", list(texts), "'None' must be the first and only value")
            continue
        yield from address(text, f"spec.clusterIPs[{i}]", before, ctx, first_place(i))


def first_place(i: int) -> field.Place:
    """The first address is nearly always written as clusterIP alone."""
    return ("spec", "clusterIPs", i) if i else ("spec", "clusterIP")


def address(text: str, at: str, before: Sequence[str], ctx: Context, where: field.Place | None = None) -> Errors:
    """An address; one that is stored already is not looked at strictly.

    Upstream: IsValidIPForLegacyField
    """
    strict = "StrictIPCIDRValidation" in ctx.gates and text not in before
    yield from validation.each(at, text, validation.ip(text, strict), where)


def _families_match(spec: Pod) -> Errors:
    texts, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    families_of_texts = [family_of(parsed) for text in texts if (parsed := validation.parse_ip(text)) is not None]
    if len(texts) > 1 and not (len(texts) == 2 and len(set(families_of_texts)) == 2):
        yield field.invalid("spec.clusterIPs", texts, "may specify no more than one IP for each IP family")
    if is_headless(spec):
        return
    for i, (family, expected) in enumerate(zip(families_of_texts, families, strict=False)):
        if expected in FAMILIES and family != expected:
            text = f"expected an {expected} value as indicated by `ipFamilies[{i}]`"
            yield field.invalid(f"spec.clusterIPs[{i}]", texts[i], text, first_place(i))


# ---- updates ---------------------------------------------------------------------------------------


def changes(spec: Pod, old: Pod) -> Errors:
    """A second address may come or go (allocation looks at that); what was there first stays.

    Upstream: validateUpgradeDowngradeClusterIPs, validateUpgradeDowngradeIPFamilies
    """
    if "ExternalName" in (spec.get("type"), old.get("type")):
        return
    headless, was_headless = is_headless(spec), is_headless(old)
    if not (headless and was_headless):
        yield from _changed_addresses(spec, old)
    if not headless and not was_headless:
        yield from _changed_families(spec, old)


def _changed_addresses(spec: Pod, old: Pod) -> Errors:
    new, stored = spec.get("clusterIPs") or [], old.get("clusterIPs") or []
    at = "spec.clusterIPs"
    if len(new) == len(stored):
        for i, (text, before) in enumerate(zip(new, stored, strict=True)):
            if text != before:
                yield field.invalid(f"{at}[{i}]", new, UNCHANGED, first_place(i))
        return
    if new and stored and new[0] != stored[0]:
        yield field.invalid(f"{at}[0]", new, UNCHANGED, first_place(0))


def _changed_families(spec: Pod, old: Pod) -> Errors:
    new, stored = spec.get("ipFamilies") or [], old.get("ipFamilies") or []
    at = "spec.ipFamilies[0]"
    if len(new) == len(stored):
        for family, before in zip(new, stored, strict=True):
            if family != before:
                yield field.invalid(at, new, UNCHANGED)
        return
    if new and stored and new[0] != stored[0]:
        # The server shows the addresses, not the families.
        yield field.invalid(at, spec.get("clusterIPs"), UNCHANGED)
