"""What policies make of a request: allow, deny or warn, with their messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from podstrat.strategy import kinds
from podstrat.strategy.admission import plugins
from podstrat.strategy.admission.settings import Admission, Settings
from podstrat.strategy.admission.world import World
from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import ApiError
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.ranges import OFFLINE
from podstrat.strategy.request import ADMIN, Request, User

POLICIES = frozenset({"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"})
GROUP = "admissionregistration.k8s.io"
INVALID = "invalid"
"""The verdict on a request that is refused, but not by a policy."""
_PREFIX = re.compile(
    r".*?(?:ValidatingAdmissionPolicy '[^']*'(?: with binding '[^']*')? denied request"
    r"|Validation failed for ValidatingAdmissionPolicy '[^']*' with binding '[^']*'): ",
    re.DOTALL,
)

Object = dict[str, Any]


class PolicyRequest(NamedTuple):
    """A write that policies are asked about."""

    verb: str
    """create, update or delete."""
    kind: Kind
    object: Object | None = None
    old: Object | None = None
    subresource: str = ""
    user: User = ADMIN

    @property
    def namespace(self) -> str:
        metadata: Object = (self.object or self.old or {})["metadata"]
        return str(metadata.get("namespace") or "default") if self.kind.namespaced else ""


class Verdict(NamedTuple):
    """The answer to a request."""

    name: str
    """allow, deny, warn or invalid."""
    messages: tuple[str, ...] = ()
    """The server's words: of the refusal, or of the warnings."""
    object: Object | None = None
    """The object as it would be stored."""

    def says(self, text: str) -> bool:
        """Whether a message is this one, with or without the server's words around what the policy says."""
        return any(text in (message, policy_message(message)) for message in self.messages)


def policy_message(message: str) -> str:
    """The policy's own part of the server's message."""
    prefix = _PREFIX.match(message)
    return message[prefix.end() :] if prefix else message


def engine(base: Engine, objects: Iterable[Object], namespaces: Iterable[str]) -> Engine:
    """An engine with these objects and the policies among them, as far as its release has them on, and no other admission plugin.

    A namespace that is named and is not among the objects exists nevertheless.
    """
    names = frozenset(row.name for row in plugins.known(base.context.version))
    world = World([*map(_namespace, sorted(set(namespaces) - {""})), *objects], complete="*")
    return base.admitting(Admission(world, Settings(disable=names - POLICIES)))


def _namespace(name: str) -> Object:
    metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "status": {"phase": "Active"}}


def refusal(obj: Object, engine: Engine) -> Outcome | None:
    """The outcome of a policy or binding that the server would refuse to store; None for any other object."""
    kind = kinds.BY_NAME.get((str(obj["apiVersion"]), str(obj["kind"])))
    if kind is None or kind.group != GROUP:
        return None
    outcome = engine.create_object(obj, options={"fieldValidation": "Strict"})
    return None if outcome.ok else outcome


def of(write: PolicyRequest, engine: Engine) -> Verdict:
    """What the policies of an engine make of a write."""
    old, new = _versioned(write)
    try:
        stored = None if old is None else engine.stored(old, write.kind.resource)
    except ApiError as error:
        return Verdict(INVALID, (f"oldObject: {error.message}",))
    request = Request(
        write.verb,
        write.subresource,
        new,
        name="" if old is None else old["metadata"].get("name", ""),
        namespace=write.namespace,
        user=write.user,
        resource=write.kind.resource,
        ranges=OFFLINE if write.kind.strategy.begin is not None else None,
        options={"fieldValidation": "Strict"} if new is not None else {},
    )
    return _verdict(engine.judge(request, stored))


def _versioned(write: PolicyRequest) -> tuple[Object | None, Object | None]:
    """Old and new object; an update of an object without a resourceVersion is one of the version that is stored."""
    old, new = write.old, write.object
    if old is None or new is None or "resourceVersion" in old["metadata"]:
        return old, new
    version = {"resourceVersion": "1"}
    return (
        {**old, "metadata": {**version, **old["metadata"]}},
        {**new, "metadata": {**version, **new["metadata"]}},
    )


def _verdict(outcome: Outcome) -> Verdict:
    report = outcome.admission
    if outcome.refusal is not None:
        denied = report is not None and report.refused_by in POLICIES
        return Verdict("deny" if denied else INVALID, (outcome.refusal.message,), outcome.pod)
    steps = report.steps if report is not None else ()
    warnings = tuple(text for step in steps if step.plugin in POLICIES for text in step.warnings)
    return Verdict("warn" if warnings else "allow", warnings, outcome.pod)
