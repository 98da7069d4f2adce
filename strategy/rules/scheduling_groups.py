"""How the pods of a Job are scheduled together: spec.scheduling, known with the gate WorkloadWithJob."""

from __future__ import annotations

from collections.abc import Mapping

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation

GATE = "WorkloadWithJob"
CLAIMS_LIMIT, TOPOLOGY_LIMIT = 4, 1
SET_ONCE, KEPT = "field cannot be set once created", "field cannot be cleared once set"
POLICY_KEPT = "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"


def of_job(spec: Pod, at: str) -> Errors:
    """A gang is no larger than the pods that run at a time, and only a gang is disrupted as a whole.

    Upstream: validateJobScheduling
    """
    scheduling = spec["scheduling"]
    gang, parallelism = (scheduling.get("schedulingPolicy") or {}).get("gang"), spec.get("parallelism", 1)
    if gang is not None and gang.get("minCount", 0) > parallelism:
        text = f"must not be greater than parallelism ({parallelism})"
        yield field.invalid(f"{at}.schedulingPolicy.gang.minCount", gang["minCount"], text)
    mode = scheduling.get("disruptionMode") or {}
    if mode.get("all") is not None and mode.get("single") is None and gang is None:
        text = "the disruptionMode `all` is not supported with the Basic scheduling policy"
        yield field.invalid(f"{at}.disruptionMode", "", text)


def same_policy(spec: Pod, old: Pod, at: str) -> Errors:
    """A job does not change from one policy to the other; only the size of a gang may change.

    Upstream: ValidateJobSpecUpdate
    """
    new, stored = ((each.get("scheduling") or {}).get("schedulingPolicy") for each in (spec, old))
    if new is not None and stored is not None and _given(new) != _given(stored):
        yield _immutable(f"{at}.schedulingPolicy", POLICY_KEPT)


def _given(union: Pod) -> set[str]:
    return {key for key in union if union[key] is not None}


# ---- declarative rules -----------------------------------------------------------------------------


def declared(spec: Pod, old: Pod | None, at: str, ctx: Context) -> Errors:
    """The rules that the types declare. A change that is refused ends the look at what was changed.

    Upstream: the generated validation of JobSchedulingConfiguration
    """
    new, stored = spec.get("scheduling"), None if old is None else old.get("scheduling")
    if old is not None and (new is None) != (stored is None):
        yield _immutable(at, SET_ONCE if stored is None else KEPT)
        return
    if new is None:
        return
    yield from _policy(new.get("schedulingPolicy"), stored, f"{at}.schedulingPolicy")
    yield from _topology(new.get("schedulingConstraints"), stored, f"{at}.schedulingConstraints", ctx)
    yield from _disruption(new.get("disruptionMode"), stored, f"{at}.disruptionMode")
    yield from _claims(new.get("resourceClaims"), stored, f"{at}.resourceClaims")


def one_of(holder: Mapping[str, object], names: tuple[str, ...], at: str) -> Errors:
    """Exactly one member of a union is set."""
    present = [name for name in names if holder.get(name) is not None]
    every = ", ".join(f"`{name}`" for name in names)
    if not present:
        yield field.invalid(at, "", f"must specify one of: {every}")
    elif len(present) > 1:
        text = "{" + ", ".join(f"`{name}`" for name in present) + "}"
        yield field.invalid(at, text, f"must specify exactly one of: {every}")


def _policy(policy: Pod | None, stored: Pod | None, at: str) -> Errors:
    before = None if stored is None else stored.get("schedulingPolicy")
    if stored is not None and (policy is None) != (before is None):
        yield _immutable(at, SET_ONCE if before is None else KEPT)
        return
    if policy is None:
        return
    yield from one_of(policy, ("basic", "gang"), at)
    least = (policy.get("gang") or {}).get("minCount", 1)
    if least < 1:
        yield field.invalid(f"{at}.gang.minCount", least, "must be greater than or equal to 1")


def _topology(constraints: Pod | None, stored: Pod | None, at: str, ctx: Context) -> Errors:
    if stored is not None and constraints != stored.get("schedulingConstraints"):
        yield _immutable(at)
        return
    topology = (constraints or {}).get("topology") or ()
    if len(topology) > TOPOLOGY_LIMIT:
        yield field.too_many(f"{at}.topology", len(topology), TOPOLOGY_LIMIT)
        return
    for i, each in enumerate(topology):
        key = each.get("key", "")
        if not key:
            yield field.required(f"{at}.topology[{i}].key")
        else:
            yield from validation.each(f"{at}.topology[{i}].key", key, validation.label_key(key, ctx.name_unit))


def _disruption(mode: Pod | None, stored: Pod | None, at: str) -> Errors:
    if stored is not None and mode != stored.get("disruptionMode"):
        yield _immutable(at)
    elif mode is not None:
        yield from one_of(mode, ("single", "all"), at)


def _claims(claims: list[Pod] | None, stored: Pod | None, at: str) -> Errors:
    claims = claims or []
    changed = stored is not None and claims != (stored.get("resourceClaims") or [])
    if changed:
        yield _immutable(at)
    if len(claims) > CLAIMS_LIMIT:
        yield field.too_many(at, len(claims), CLAIMS_LIMIT)
        return
    if changed:
        return
    seen = set[str]()
    for i, claim in enumerate(claims):
        if claim["name"] in seen:
            yield field.duplicate(f"{at}[{i}]", claim, show=go.to_json(claim))
        seen.add(claim["name"])
    for i, claim in enumerate(claims):
        yield from _claim(claim, f"{at}[{i}]")


def _claim(claim: Pod, at: str) -> Errors:
    yield from one_of(claim, ("resourceClaimName", "resourceClaimTemplateName"), at)
    if not claim["name"]:
        yield field.required(f"{at}.name")
    else:
        yield from validation.each(f"{at}.name", claim["name"], validation.dns_label(claim["name"]))
    for key in ("resourceClaimName", "resourceClaimTemplateName"):
        if (name := claim.get(key)) is not None:
            yield from validation.each(f"{at}.{key}", name, validation.dns_subdomain(name))


def _immutable(at: str, words: str = "field is immutable") -> field.FieldError:
    return field.invalid(at, None, words)
