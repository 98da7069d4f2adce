"""Admission hooks of a request: mutating ones run before the strategy, validating ones after it.

The engine knows when they run and on what; strategy.admission, or the caller who passes them with the request, knows what they
are. A request without any costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from podstrat.strategy import errors, options
from podstrat.strategy.decoding import codec, scheme
from podstrat.strategy.decoding.codec import Decoder, Seen
from podstrat.strategy.request import Request

Object = dict[str, Any]

T = TypeVar("T")

_META = f"{options.META_GROUP}/v1"


class Form(Protocol):
    """How the objects of a kind are read and printed."""

    def decode(self, value: Any) -> tuple[Object, Seen]:
        """A value as an object of the kind; DecodeError if it does not fit."""

    def unknown(self, value: Any) -> list[str]:
        """What strict decoding complains of in a value: unknown and repeated fields; DecodeError if it does not fit."""

    def default(self, obj: Object) -> None:
        """Fills in what a decoded object leaves out."""

    def printed(self, obj: Object, seen: Seen) -> Object:
        """An object as clients see it; it may share parts with what it was made from."""


class Draft:
    """The object of a write on its way: decoded and defaulted, private to the request, changed in place or replaced."""

    __slots__ = ("_form", "seen", "value")

    def __init__(self, value: Object, seen: Seen, form: Form) -> None:
        self.value = value
        self.seen = seen
        self._form = form

    def printed(self) -> Object:
        """The object as clients see it: not to be changed."""
        return self._form.printed(self.value, self.seen)

    def unknown(self, value: Any) -> list[str]:
        """What strict decoding would complain of in another printed object."""
        return self._form.unknown(value)

    def replace(self, value: Any) -> bool:
        """Takes another printed object instead, which is decoded and defaulted; whether it differs from the one before.

        DecodeError if it does not fit.
        """
        obj, seen = self._form.decode(value)
        is_other = self._form.printed(obj, seen) != self.printed()
        self._form.default(obj)
        self.value, self.seen = obj, seen
        return is_other


class Proposal:
    """A write as reviewers see it."""

    __slots__ = ("_options", "_request", "draft", "old")

    def __init__(
        self, draft: Draft | None, old: Object | None, options: Object | None = None, request: Request | None = None
    ) -> None:
        self.draft = draft
        """What comes in; None for a delete."""
        self.old = old
        """What is stored; None for a create."""
        self._request = request
        self._options = options

    @property
    def options(self) -> Object:
        """CreateOptions, UpdateOptions or DeleteOptions. Made from the request when they are asked for."""
        if self._options is None:
            self._options = {} if self._request is None else _options(self._request, self.old)
        return self._options

    @property
    def new(self) -> Object | None:
        """What comes in, as it is printed; None for a delete."""
        return None if self.draft is None else self.draft.printed()

    @property
    def operation(self) -> str:
        if self.draft is None:
            return "DELETE"
        return "CREATE" if self.old is None else "UPDATE"

    @property
    def dry_run(self) -> bool:
        return bool(self.options.get("dryRun"))


class Reviewers(Protocol):
    """Mutating and validating admission. A refusal is an ApiError with the warnings collected so far."""

    def change(self, write: Proposal) -> Sequence[str]:
        """Changes or replaces the draft, if there is one; warnings."""

    def confirm(self, write: Proposal) -> Sequence[str]:
        """Warnings about an object that is as it would be stored."""


class Webhooks(Protocol):
    """The registered webhooks, called at their place in the engine's admission chain."""

    def mutate(self, write: Proposal, number: int) -> tuple[bool, Sequence[str]]:
        """One round of mutating webhooks, 0 or 1: whether they changed the object, and warnings."""

    def validate(self, write: Proposal) -> Sequence[str]:
        """The validating webhooks: warnings."""


def changed(request: Request, draft: Draft, old: Object | None, warnings: list[str]) -> None:
    """What comes in is left as the reviewers want it. Their warnings join those that there are.

    Upstream: MutationInterface.Admit
    """
    reviewers = request.reviewers
    if reviewers is not None:
        write = Proposal(draft, old, request=request)
        warnings += _told(reviewers.change, write, warnings)


def changed_other(request: Request, new: Object, kind: str, api_version: str, decoder: Decoder, warnings: list[str]) -> Draft:
    """The same for an object that is not stored but acted upon: a binding, an eviction."""
    obj = {**new, "metadata": {**new["metadata"], "namespace": request.namespace}}
    draft = Draft(obj, Seen(), _Other(kind, api_version, decoder))
    changed(request, draft, None, warnings)
    return draft


class _Other:
    """How objects are read and printed that have no strategy of their own."""

    def __init__(self, kind: str, api_version: str, decoder: Decoder) -> None:
        self._kind, self._api_version, self._decoder = kind, api_version, decoder
        self._type_name = scheme.type_name(api_version.rpartition("/")[0], kind)

    def decode(self, value: Any) -> tuple[Object, Seen]:
        resolved = self._decoder.resolve(value, self._kind, self._api_version)
        return resolved.value, resolved.seen

    def unknown(self, value: Any) -> list[str]:
        return list(self._decoder.resolve(value, self._kind, self._api_version).strict)

    def default(self, obj: Object) -> None:
        """There is nothing to fill in."""

    def printed(self, obj: Object, seen: Seen) -> Object:
        return codec.prune(obj, self._type_name, self._decoder.types)


class _AsItIs:
    """An object that nothing is done to any more."""

    def decode(self, value: Any) -> tuple[Object, Seen]:
        raise ValueError("an object that is validated cannot be changed")

    def unknown(self, value: Any) -> list[str]:
        return []

    def default(self, obj: Object) -> None:
        """It has its defaults."""

    def printed(self, obj: Object, seen: Seen) -> Object:
        return obj


def finished(obj: Object) -> Draft:
    """An object as it would be stored."""
    return Draft(obj, Seen(), _AS_IT_IS)


_AS_IT_IS: Form = _AsItIs()


def confirmed(request: Request, draft: Draft, old: Object | None, warnings: list[str]) -> None:
    """What would be stored is shown to the reviewers.

    Upstream: ValidationInterface.Validate
    """
    reviewers = request.reviewers
    if reviewers is not None:
        write = Proposal(draft, old, request=request)
        warnings += _told(reviewers.confirm, write, warnings)


def deleted(request: Request, steps: Iterable[Object], delete_options: Object) -> tuple[str, ...]:
    """What is stored is to go: both kinds of reviewers are asked about it as it is before each step. Their warnings.

    Upstream: AdmissionToValidateObjectDeleteFunc
    """
    reviewers = request.reviewers
    if reviewers is None:
        return ()
    # Whatever version they were sent in.
    type_meta = {"kind": "DeleteOptions", "apiVersion": _META}
    warnings: list[str] = []
    for old in steps:
        write = Proposal(None, old, {**type_meta, **delete_options, **type_meta})
        warnings += _told(reviewers.change, write, warnings)
        warnings += _told(reviewers.confirm, write, warnings)
    return tuple(warnings)


def _told(ask: Callable[[Proposal], T], write: Proposal, warnings: list[str]) -> T:
    """The answer. A refusal carries along what was said before it."""
    try:
        return ask(write)
    except errors.ApiError as error:
        error.warnings = (*warnings, *error.warnings)
        raise


def _options(request: Request, old: Object | None) -> Object:
    """The options of the write that is done, whatever the request called it: a patch is an update."""
    kind = "CreateOptions" if old is None else "UpdateOptions"
    result: Object = {"kind": kind, "apiVersion": _META}
    if dry_run := list(options.several(request.options, "dryRun")):
        result["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation"):
        if text := options.one(request, name):
            result[name] = text
    return result
