"""Resource claims of a pod (DRA): by claim name or by template."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules.pod_annotations import MIRROR

NOT_STATIC = "static pods do not support resource claims"
NOT_BOTH = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
NEEDS_ONE = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


def each(claims: Sequence[Pod], meta: Pod | None, at: str, ctx: Context) -> Errors:
    """Each claim has a name of its own and one source; a static pod has none.

    Upstream: validatePodResourceClaims
    """
    static = meta is not None and MIRROR in (meta.get("annotations") or ())
    names: set[str] = set()
    for i, claim in enumerate(claims):
        if static:
            # The server makes this path from an empty name.
            yield field.forbidden("[]", NOT_STATIC, field.place_of(f"{at}[{i}]"))
            continue
        name = claim["name"]
        if not name:
            yield field.required(f"{at}[{i}].name")
        elif name in names:
            yield field.duplicate(f"{at}[{i}].name", name)
        elif faults := validation.dns_label(name):
            yield from validation.each(f"{at}[{i}].name", name, faults)
        names.add(name)
        yield from _source(claim, f"{at}[{i}]", ctx)


def _source(claim: Pod, at: str, ctx: Context) -> Errors:
    """A claim that exists, or a template to make one from.

    Upstream: validatePodResourceClaim
    """
    sources = [key for key in SOURCES if key in claim]
    if len(sources) != 1:
        show = internal.text("PodResourceClaim", claim, ctx.version)
        yield field.invalid(at, claim, NOT_BOTH if sources else NEEDS_ONE, show=show)
    for key in sources:
        if faults := validation.dns_subdomain(claim[key]):
            yield from validation.each(f"{at}.{key}", claim[key], faults)
