"""Those who are asked about a write on its way: before the strategy, where they may change it, and behind it, when it is done.

The engine knows when they are asked, and about what; who they are and how they are reached is the business of whoever brings
them along with the request. A request without any costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from strategy import errors, options, scheme, shape
from strategy.request import Request
from strategy.shape import Decoder

Object = dict[str, Any]
Read = Callable[[Any, Object], tuple[Object, bool]]
"""An object that was changed, and what it was before: the object read and defaulted, and whether it is another one now."""

T = TypeVar("T")

_META = f"{options.META_GROUP}/v1"


class Asked(NamedTuple):
    """A write as reviewers see it."""

    new: Object | None
    """What comes in, as it is printed; None for a delete."""
    old: Object | None
    """What is stored; None for a create."""
    options: Object
    """CreateOptions, UpdateOptions or DeleteOptions."""

    @property
    def operation(self) -> str:
        if self.new is None:
            return "DELETE"
        return "CREATE" if self.old is None else "UPDATE"

    @property
    def dry_run(self) -> bool:
        return bool(self.options.get("dryRun"))


class Reviewers(Protocol):
    """Whoever refuses raises an ApiError, with the warnings that were given up to then."""

    def change(self, asked: Asked, read: Read) -> tuple[Object | None, Sequence[str]]:
        """The object to go on with, the very same one if nobody changed it; and warnings."""

    def confirm(self, asked: Asked) -> Sequence[str]:
        """Warnings about an object that is as it would be stored."""


def changed(request: Request, new: Object, old: Object | None, read: Read, warnings: list[str]) -> Object:
    """What comes in, as the reviewers leave it. Their warnings join those that there are.

    Upstream: MutationInterface.Admit
    """
    reviewers = request.reviewers
    if reviewers is None:
        return new
    asked = Asked(new, old, _options(request, old))
    made, said = _told(lambda: reviewers.change(asked, read), warnings)
    warnings += said
    return new if made is None else made


def changed_other(request: Request, new: Object, kind: str, api_version: str, decoder: Decoder, warnings: list[str]) -> Object:
    """The same for an object that is not stored but acted upon: a binding, an eviction."""
    type_name = scheme.type_name(api_version.rpartition("/")[0], kind)

    def read(value: Any, before: Object) -> tuple[Object, bool]:
        got = shape.prune(decoder.resolve(value, kind, api_version).value, type_name, decoder.types)
        return got, got != before

    shown = shape.prune({**new, "metadata": {**new["metadata"], "namespace": request.namespace}}, type_name, decoder.types)
    return changed(request, shown, None, read, warnings)


def confirmed(request: Request, new: Object, old: Object | None, warnings: list[str]) -> None:
    """What would be stored is shown to the reviewers.

    Upstream: ValidationInterface.Validate
    """
    reviewers = request.reviewers
    if reviewers is not None:
        asked = Asked(new, old, _options(request, old))
        warnings += _told(lambda: reviewers.confirm(asked), warnings)


def deleted(request: Request, steps: Iterable[Object], wanted: Object) -> tuple[str, ...]:
    """What is stored is to go: both kinds of reviewers are asked about it as it is before each step. Their warnings.

    Upstream: AdmissionToValidateObjectDeleteFunc
    """
    reviewers = request.reviewers
    if reviewers is None:
        return ()
    # Whatever version they were sent in.
    named = {"kind": "DeleteOptions", "apiVersion": _META}
    warnings: list[str] = []
    for old in steps:
        asked = Asked(None, old, {**named, **wanted, **named})
        warnings += _told(partial(reviewers.change, asked, _unreadable), warnings)[1]
        warnings += _told(partial(reviewers.confirm, asked), warnings)
    return tuple(warnings)


def _unreadable(value: Any, before: Object) -> tuple[Object, bool]:
    raise ValueError("a delete has no object that could be changed")


def _told(ask: Callable[[], T], warnings: list[str]) -> T:
    """The answer. A refusal carries along what was said before it."""
    try:
        return ask()
    except errors.ApiError as error:
        error.warnings = (*warnings, *error.warnings)
        raise


def _options(request: Request, old: Object | None) -> Object:
    """The options of the write that is done, whatever the request called it: a patch is an update."""
    kind = "CreateOptions" if old is None else "UpdateOptions"
    found: Object = {"kind": kind, "apiVersion": _META}
    if dry_run := list(options.several(request.options, "dryRun")):
        found["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation"):
        if text := options.one(request, name):
            found[name] = text
    return found
