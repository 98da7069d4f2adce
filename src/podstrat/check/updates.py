"""Evaluate updates: whether a change of an object is allowed, and whether it raises the generation."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from podstrat import exits, goyaml, patches
from podstrat.check import client_apply, inputs, places
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.report import Finding, Result
from podstrat.strategy import errors, kinds, pipeline
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.request import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from podstrat.check.inputs import Source
    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from podstrat.goyaml import Document
    from podstrat.strategy.kinds.kind import Kind

Key = tuple[str, str, str]

# By kind: the fields of a spec that an update may change, where the server names only the spec.
_ALLOWED = {
    "Pod": re.compile(
        r"spec\.((init)?[cC]ontainers\[\d+\]\.image|activeDeadlineSeconds|tolerations\b.*"
        r"|terminationGracePeriodSeconds|schedulingGates\b.*)"
    ),
    "StatefulSet": re.compile(
        r"spec\.(replicas|ordinals|template|updateStrategy|revisionHistoryLimit|persistentVolumeClaimRetentionPolicy"
        r"|minReadySeconds)\b.*"
    ),
}
_VERSION = "1"
"""The resourceVersion of old objects that are created here: some kinds are not updated without one."""
NOT_JUDGED = "updates of this kind are not evaluated: checked as a new object"
NEW = "not among the old objects: checked as a new object"


def evaluator(path: str, settings: Settings, subresource: str, how: str) -> UpdateEvaluator:
    """A judge of updates of what is in a file."""
    return UpdateEvaluator(settings, _read(path), path, subresource, how)


def _read(path: str) -> dict[Key, Any]:
    """The old objects. A file that cannot be read, or is not valid YAML, is an invalid argument here."""
    if os.path.isdir(path):
        raise exits.BadArguments(f"{path} is a directory: --old takes one file")
    return by_key(inputs.sources(inputs.InputArguments([path])))


def by_key(sources: Iterable[Source]) -> dict[Key, Any]:
    """The objects that updates are updates of."""
    try:
        return {key(each.object): each.object.value for each in inputs.objects_of(sources)}
    except goyaml.YamlError as error:
        raise exits.BadArguments(str(error)) from None


def key(each: Object) -> Key:
    return each.said("kind"), each.meta("namespace") or "default", each.name


class UpdateEvaluator(Evaluator):
    """Judges objects as the new form of others."""

    def __init__(self, settings: Settings, old: dict[Key, Any], old_name: str, subresource: str, how: str) -> None:
        super().__init__(settings)
        self._old = old
        self._old_name = old_name
        self._subresource = subresource
        self._how = how
        self._fields: dict[str, Any] = {}
        self._hint = ""
        self._before: Any = None
        self._patch: list[dict[str, Any]] | None = None

    def _object(self, each: Object, document: Document, lines: Callable[[int], str]) -> Result:
        self._fields, self._hint, self._before, self._patch = {}, "", None, None
        result = super()._object(each, document, lines)
        if result.skipped:
            return result
        errors = tuple(self._pointed(error, each, document, lines) for error in result.errors)
        return result._replace(update=self._fields, errors=errors, patch=self._patch)

    def _pointed(self, error: Finding, each: Object, document: Document, lines: Callable[[int], str]) -> Finding:
        """Of a change that is not allowed the server may name the whole spec; here the first such change is marked."""
        if error.type != "FieldValueForbidden" and "immutable" not in error.detail:
            return error
        at = places.parse(error.field, each.value)
        old, new = (places.at(at, value) if places.found(at, value) == at else None for value in (self._before, each.value))
        allowed = _ALLOWED.get(each.said("kind")) if at == ("spec",) else None
        for place in changed(old, new, at):
            if allowed is None or not allowed.fullmatch(places.text(place)):
                line, column = places.mark(document, each.at, place)
                error = error._replace(line=line, column=column, source=lines(line))
                break
        return error._replace(hint=self._hint) if self._hint and at == ("spec",) else error

    def ask(self, each: Object, choice: Choice) -> Outcome | None:
        kind, namespace, name = key(each)
        namespace = each.meta("namespace") or self.settings.namespace or "default"
        old = self._old.get((kind, namespace, name))
        row = kinds.BY_NAME.get((each.said("apiVersion"), choice.kind))
        if row is None or old is None:
            self._fields = {"allowed": None, "reason": NEW if old is None else NOT_JUDGED}
            return super().ask(each, choice)
        stored = self._stored(old, row)
        if stored.refusal is not None or stored.pod is None:
            # What was never accepted cannot be updated.
            raise exits.BadArguments(
                f"{self._old_name}: the old {kind}/{name} is itself invalid: {stored.refusal and stored.refusal.message}"
            )
        outcome = self.updated(self._in_namespace(each.value), stored.pod, old, row)
        how = "apply" if self._applies(each.value) else "replace"
        self._fields, self._before = {"how": how} | _about(outcome), old
        if not outcome.ok and not self._subresource:
            self._hint = self._other_door(each.value, stored.pod, row)
        if outcome.ok and outcome.pod is not None and self.settings.patch:
            self._patch = patches.difference(*map(client_apply.without_annotation, (stored.pod, outcome.pod)))
        return outcome

    def _stored(self, old: Any, row: Kind) -> Outcome:
        """The old object as the server has it: it comes from there, or it is created first."""
        if _is_live(old):
            try:
                obj = self.engine.stored(old, row.resource)
            except errors.ApiError as error:
                return pipeline.refused(error)
            return Outcome(Answer(200, obj), obj)
        manifest = self._in_namespace(old)
        body = manifest if self._how == "replace" else client_apply.annotated(manifest)
        outcome = self.engine.create_object(body, options={"fieldValidation": "Ignore"})
        if outcome.admission is not None and outcome.admission.refused_by:
            # It may have been there before the policy was.
            outcome = Evaluator(self.settings._replace(admission=None)).engine.create_object(
                body, options={"fieldValidation": "Ignore"}
            )
        if outcome.ok and outcome.pod is not None:
            outcome.pod["metadata"]["resourceVersion"] = _VERSION
        return outcome

    def updated(self, new: Any, stored: Any, old: Any, row: Kind) -> Outcome:
        if self._applies(new):
            before = client_apply.last_applied(old) if _is_live(old) else old
            body = client_apply.patch(before, client_apply.annotated(new), self.engine.context.types, row.type_name)
            return self.engine.patch(body, stored, subresource=self._subresource, options=self.options, resource=row.resource)
        return self._replaced(new, stored, self._subresource, row)

    def _replaced(self, new: Any, stored: Any, subresource: str, row: Kind) -> Outcome:
        """What kubectl replace gets. It sends the version of what is stored, unless the file names one."""
        metadata = new.get("metadata")
        if isinstance(metadata, dict) and not metadata.get("resourceVersion"):
            new = {**new, "metadata": {**metadata, "resourceVersion": stored["metadata"].get("resourceVersion")}}
        return self.engine.update(new, stored, subresource=subresource, options=self.options, resource=row.resource)

    def _applies(self, new: Any) -> bool:
        """What comes from a server goes back as a whole; a manifest is applied."""
        if self._how == "auto":
            return not _is_live(new) and not self._subresource
        return self._how == "apply"

    def _other_door(self, new: Any, stored: Any, row: Kind) -> str:
        """A subresource through which the whole change would be allowed."""
        for name in row.strategy.updates:
            outcome_there = self._replaced(new, stored, name, row) if name not in ("", "status") else None
            if outcome_there is not None and outcome_there.ok and outcome_there.pod is not None and outcome_there.pod != stored:
                after = self._replaced(new, outcome_there.pod, "", row)
                if after.ok and after.pod is not None and after.pod["spec"] == outcome_there.pod["spec"]:
                    return f"allowed through a subresource: kubectl replace --subresource {name} -f FILE"
        return ""


def changed(old: Any, new: Any, at: Place) -> Iterator[Place]:
    """Where two values differ, as they were written."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**new, **old}:
            yield from changed(old.get(key), new.get(key), (*at, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changed(before, after, (*at, i))
    elif old != new:
        yield at


def _is_live(obj: Any) -> bool:
    """Whether an object comes from a server: only there it gets a uid."""
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("uid"))


def _about(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"allowed": outcome.ok}
    if not outcome.ok or outcome.pod is None:
        return fields
    if "generation" in outcome.pod["metadata"]:
        fields["generation"] = {"after": outcome.pod["metadata"]["generation"]}
    for change in outcome.changes:
        if change.kind == "generation":
            fields["generation"] = {"before": change.before, "after": change.after}
            fields["reason"] = change.reason
    fields["changes"] = [str(change) for change in outcome.changes if change.kind in ("dropped", "unknown", "reset")]
    return fields
