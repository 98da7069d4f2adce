"""The update pipeline: decode and default, check preconditions, prepare, validate, warn."""

from __future__ import annotations

from podstrat.strategy import field, warn
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.kinds.kind import Kind, Update
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import incoming, prepare
from podstrat.strategy.verbs.judged import Judged


def run(request: Request, stored: Pod | None, kind: Kind, ctx: Context, decoder: Decoder) -> Judged:
    """An object that is to replace the stored one, or its status or another part of it, by PUT or PATCH."""
    old, (obj, warnings, seen) = incoming.for_update(request, stored, kind, ctx, decoder)
    begin = kind.strategy.begin
    if begin is not None and not request.subresource and (errors := begin(obj, old, request, ctx)):
        return Judged(obj, errors, warnings, [], seen, old)
    return judge(kind.strategy.updates[request.subresource], obj, old, warnings, seen, ctx)


def judge(endpoint: Update, sent: Pod, old: Pod, warnings: list[str], seen: Seen, ctx: Context) -> Judged:
    """A write to an endpoint from where the object has been read; an eviction and a scale begin here."""
    ctx = ctx.updating(old)
    obj, dropped = endpoint.prepare(sent, old, ctx, seen)
    prepare.kept_metadata(obj, old)
    errors = field.collected(endpoint.rules(obj, old, ctx))
    if not errors:
        warnings += warn.enough(endpoint.warnings(obj, old, ctx))
    return Judged(obj, errors, warnings, dropped, seen, old)
