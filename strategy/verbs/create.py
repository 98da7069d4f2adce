"""The create pipeline, top to bottom: decode and default, prepare, validate, warn."""

from __future__ import annotations

from podstrat.strategy import field, warn
from podstrat.strategy.context import Context
from podstrat.strategy.decoding.codec import Decoder
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import Request
from podstrat.strategy.verbs import incoming, prepare
from podstrat.strategy.verbs.judged import Judged


def run(request: Request, kind: Kind, ctx: Context, decoder: Decoder) -> Judged:
    """A new object, by POST or by an apply to nothing."""
    obj, warnings, seen = incoming.for_create(request, kind, ctx, decoder)
    prepare.new_metadata(obj, request, ctx, kind.namespaced)
    create, begin = kind.strategy.create, kind.strategy.begin
    if begin is not None and (errors := begin(obj, None, request, ctx)):
        return Judged(obj, errors, warnings, [], seen)
    dropped, more = create.prepare(obj, request, ctx, seen)
    warnings += more
    errors = field.collected(create.rules(obj, ctx))
    if not errors:
        warnings += warn.enough(create.warnings(obj, ctx))
    return Judged(obj, errors, warnings, dropped, seen)
