"""The webhooks of one write, called at their place in the admission chain of the engine.

Mutating webhooks are called one after the other. If one of them changed the object, earlier ones with reinvocationPolicy IfNeeded
are called once more; there is no third round. Validating webhooks are called in parallel.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podstrat.apiserver.admission import attributes as attributes_of
from podstrat.apiserver.admission import calling, decisions, matching, patches, review
from podstrat.apiserver.admission.attributes import Attributes, Subject
from podstrat.apiserver.admission.calling import Caller
from podstrat.apiserver.admission.configurations import Hook
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.admission.matching import Invocation
from podstrat.apiserver.admission.refusals import Denied, Internal, NotCalled, no_dry_run
from podstrat.strategy import errors
from podstrat.strategy.decoding import codec
from podstrat.strategy.formats import go
from podstrat.strategy.patch import explained
from podstrat.strategy.verbs.reviewers import Proposal

Object = dict[str, Any]

MUTATION = "mutation.webhook.admission.k8s.io/"
PATCH = "patch.webhook.admission.k8s.io/"
VALIDATION = "validating.webhook.admission.k8s.io/"
FAILED_OPEN = "failed-open."
HARMLESS = ("None", "NoneOnDryRun")
log = logging.getLogger("podstrat.apiserver")


@dataclass(slots=True)
class WebhookCall:
    """One call of a webhook, as it went."""

    configuration: str
    webhook: str
    round: int
    """1 for the second time."""
    sent: bytes = b""
    """The AdmissionReview that was sent; empty if it did not come to that."""
    answer: Object | None = None
    """The AdmissionReview that came back."""
    patch: list[Any] = field(default_factory=list)
    """The operations that it wants."""
    changed: bool = False
    """Whether they made another object of it."""
    error: str = ""
    """Why it could not be asked, or its answer not be used."""
    seconds: float = 0.0

    @property
    def request(self) -> Object:
        """The request in the AdmissionReview that was sent."""
        return json.loads(self.sent)["request"] if self.sent else {}

    @property
    def response(self) -> Object:
        """The response in the AdmissionReview that came back."""
        response = (self.answer or {}).get("response")
        return response if isinstance(response, dict) else {}

    @property
    def said(self) -> str:
        """The message of the response."""
        status = self.response.get("status")
        return str(status.get("message") or "") if isinstance(status, dict) else ""

    def decision(self, fails_open: bool) -> str:
        """What came of it, in a word or two."""
        if self.error or self.answer is None:
            return decisions.FAILED_OPEN if fails_open else decisions.FAILED
        if self.response.get("allowed") is not True:
            return decisions.DENIED
        return decisions.PATCHED if self.changed else decisions.ALLOWED


class Chain:
    """The webhooks of one write, with the calls, warnings and audit annotations that they made."""

    def __init__(self, admission: Admission, subject: Subject) -> None:
        self._admission = admission
        self._subject = subject
        self._mutation: _Mutation | None = None
        self.annotations: dict[str, str] = {}
        """What the audit log of the real server would say."""
        self.calls: list[WebhookCall] = []

    def mutate(self, write: Proposal, number: int) -> tuple[bool, Sequence[str]]:
        """Upstream: mutatingDispatcher.Dispatch"""
        if number == 0 or self._mutation is None:
            self._mutation = _Mutation(self, self._admission, attributes_of.of(self._subject, write))
        mutation = self._mutation
        mutation.warnings = []
        try:
            changed = mutation.round(number)
        except errors.ApiError as error:
            error.warnings = (*mutation.warnings, *error.warnings)
            raise
        return changed, mutation.warnings

    def validate(self, write: Proposal) -> Sequence[str]:
        """Upstream: validatingDispatcher.Dispatch"""
        admission = self._admission
        attributes = attributes_of.of(self._subject, write)
        asked_for = (matching.invocation(hook, attributes, admission.labels) for hook in admission.configurations.validating())
        invocations = [each for each in asked_for if each is not None]
        if not invocations:
            return ()
        return self._judged(invocations, attributes)

    def _judged(self, invocations: list[Invocation], attributes: Attributes) -> Sequence[str]:
        def judge(invocation: Invocation) -> _Judgement:
            return _judgement(invocation, attributes, self._admission.caller)

        if len(invocations) == 1:
            judgements = [judge(invocations[0])]
        else:
            with ThreadPoolExecutor(len(invocations)) as threads:
                judgements = list(threads.map(judge, invocations))
        warnings: list[str] = []
        refusal: errors.ApiError | None = None
        for index, (invocation, judgement) in enumerate(zip(invocations, judgements, strict=True)):
            self.calls.append(judgement.called)
            self.decided(invocation.hook, judgement.called, attributes, mutating=False)
            self.note(invocation.hook, judgement.verdict, warnings)
            failed = judgement.failed
            if isinstance(failed, NotCalled):
                if self.opens(invocation.hook, failed, f"{VALIDATION}round_0_index_{index}"):
                    continue
                failed = Internal(str(failed))
            refusal = refusal or failed
        if refusal is not None:
            refusal.warnings = tuple(warnings)
            raise refusal
        return warnings

    def note(self, hook: Hook, verdict: review.Verdict | None, warnings: list[str]) -> None:
        """What a webhook tells the log and the client, whatever it decides."""
        if verdict is not None:
            self.annotations.update({f"{hook.name}/{key}": value for key, value in verdict.annotations.items()})
            warnings += verdict.warnings

    def decided(self, hook: Hook, call: WebhookCall, attributes: Attributes, *, mutating: bool) -> None:
        """Keeps a decision for those who watch."""
        meta = (attributes.new or attributes.old or {}).get("metadata") or {}
        self._admission.decisions.add(
            decisions.Decision(
                time.time(),
                hook.configuration,
                hook.name,
                mutating,
                attributes.operation,
                f"{attributes.qualified}/{attributes.subresource}" if attributes.subresource else attributes.qualified,
                attributes.namespace,
                attributes.name or str(meta.get("name") or meta.get("generateName") or ""),
                attributes.user.name,
                call.decision(hook.fails_open),
                call.error or call.said,
                round(call.seconds * 1000, 3),
                attributes.asked.dry_run,
            )
        )

    def opens(self, hook: Hook, failed: NotCalled, key: str) -> bool:
        """Whether failurePolicy Ignore lets the write continue without a webhook that could not be called."""
        log.warning("Failed calling webhook, failing %s %s: %s", "open" if hook.fails_open else "closed", hook.name, failed)
        if hook.fails_open:
            self.annotations[FAILED_OPEN + key] = hook.name
        return hook.fails_open


class _Mutation:
    """The two rounds of webhooks that change an object.

    Upstream: mutatingDispatcher.Dispatch, webhookReinvokeContext
    """

    def __init__(self, chain: Chain, admission: Admission, attributes: Attributes) -> None:
        self._chain = chain
        self._admission = admission
        self._hooks = admission.configurations.mutating()
        self.attributes = attributes
        self.warnings: list[str] = []
        self.again: set[str] = set()
        """Those who are to be asked once more."""
        self._asked: set[str] = set()
        """Those who were asked, and want to know if the object changes later on."""

    def round(self, number: int) -> bool:
        """Asks them in turn; whether one of them changed the object."""
        changed = False
        keys, labels = self.again, self._admission.labels
        for index, hook in enumerate(self._hooks):
            invocation = matching.invocation(hook, self.attributes, labels)
            if invocation is None or (number and hook.uid not in keys):
                continue
            call = WebhookCall(hook.configuration, hook.name, number)
            self._chain.calls.append(call)
            key = f"round_{number}_index_{index}"
            try:
                self._ask(invocation, call, key)
            except NotCalled as failed:
                if not self._chain.opens(hook, failed, MUTATION + key):
                    raise Internal(str(failed)) from None
            finally:
                note = {"configuration": hook.configuration, "webhook": hook.name, "mutated": call.changed}
                self._chain.annotations[MUTATION + key] = json.dumps(note, separators=(",", ":"))
                self._chain.decided(hook, call, self.attributes, mutating=True)
            if call.changed:
                changed = True
                self.again = self.again | self._asked
                self._asked = set()
            if hook.again:
                self._asked.add(hook.uid)
        return changed

    def _ask(self, invocation: Invocation, call: WebhookCall, key: str) -> None:
        hook = invocation.hook
        verdict = _verdict(invocation, self.attributes, self._admission.caller, call, mutating=True)
        self._chain.note(hook, verdict, self.warnings)
        if not verdict.allowed:
            raise Denied(hook.name, verdict.result)
        if verdict.patch:
            self._patch(hook, verdict, call, key)

    def _patch(self, hook: Hook, verdict: review.Verdict, call: WebhookCall, key: str) -> None:
        try:
            call.patch = patches.operations(verdict.patch)
        except patches.Undecodable as error:
            raise _failed(call, f"received undecodable patch in webhook response: {error}") from None
        if not call.patch:
            return
        draft = self.attributes.asked.draft
        if draft is None:
            words = "attempted to modify the object, which is not supported for this operation"
            raise Internal(f"admission webhook {go.quote(hook.name)} {words}")
        if verdict.patch_type != review.PATCH_TYPE:
            raise _failed(call, f"unsupported patch type {go.quote(verdict.patch_type)}")
        try:
            patched = explained.apply(draft.printed(), call.patch, self._admission.version, verdict.patch)
            call.changed = draft.replace(patched)
        except (explained.Inapplicable, codec.DecodeError) as error:
            call.error = str(error)
            raise Internal(str(error)) from None
        note = {"configuration": hook.configuration, "webhook": hook.name, "patch": call.patch, "patchType": review.PATCH_TYPE}
        self._chain.annotations[PATCH + key] = json.dumps(note, separators=(",", ":"))


class _Judgement(NamedTuple):
    called: WebhookCall
    verdict: review.Verdict | None
    failed: errors.ApiError | NotCalled | None


def _judgement(invocation: Invocation, attributes: Attributes, caller: Caller) -> _Judgement:
    """What one webhook says to an object that it cannot change any more."""
    hook = invocation.hook
    call = WebhookCall(hook.configuration, hook.name, 0)
    try:
        verdict = _verdict(invocation, attributes, caller, call, mutating=False)
    except (errors.ApiError, NotCalled) as failed:
        return _Judgement(call, None, failed)
    return _Judgement(call, verdict, None if verdict.allowed else Denied(hook.name, verdict.result))


def _verdict(
    invocation: Invocation, attributes: Attributes, caller: Caller, call: WebhookCall, *, mutating: bool
) -> review.Verdict:
    """Calls one webhook.

    Upstream: callAttrMutatingHook, callHook
    """
    hook = invocation.hook
    if attributes.asked.dry_run:
        if hook.side_effects is None:
            raise _failed(call, "Webhook SideEffects is nil")
        if hook.side_effects not in HARMLESS:
            raise no_dry_run(hook.name)
    try:
        version = review.version(hook.versions)
    except review.Unusable as error:
        raise _failed(call, f"could not create admission objects: {error}") from None
    uid = str(uuid.uuid4())
    question = review.question(attributes, invocation.kind, invocation.resource, version, uid)
    call.sent = json.dumps(question, separators=(",", ":")).encode()
    began = time.perf_counter()
    try:
        answer = caller.post(calling.endpoint(hook.client), call.sent, hook.seconds)
        call.answer = review.decoded(answer, version)
    except calling.NoClient as error:
        raise _failed(call, f"could not get REST client: {error}") from None
    except (calling.Unreached, review.Unusable) as error:
        raise _failed(call, f"failed to call webhook: {error}") from None
    finally:
        call.seconds = time.perf_counter() - began
    try:
        return review.verdict(call.answer, uid, version, mutating)
    except review.Unusable as error:
        raise _failed(call, f"received invalid webhook response: {error}") from None


def _failed(call: WebhookCall, reason: str) -> NotCalled:
    call.error = reason
    return NotCalled(call.webhook, reason)
