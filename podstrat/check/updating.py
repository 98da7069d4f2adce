"""Updates: is this change of a pod allowed, will it raise the generation, and why."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import goyaml
from podstrat import exits
from podstrat.check import inputs, opening, places, selection
from podstrat.check.judge import Judge, Settings
from podstrat.check.report import Finding, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goyaml import Document
    from podstrat.check.objects import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from strategy.outcome import Outcome

Key = tuple[str, str, str]

# The fields of a spec that an update may change.
_ALLOWED = re.compile(
    r"spec\.((init)?[cC]ontainers\[\d+\]\.image|activeDeadlineSeconds|tolerations\b.*|terminationGracePeriodSeconds|schedulingGates\b.*)"
)
NOT_JUDGED = "updates of this kind are not judged: it was checked as a new object"
NEW = "it is not among the old ones: it was checked as a new object"


def judge(path: str, settings: Settings, subresource: str, how: str) -> Updating:
    """A judge of updates of what is in a file."""
    return Updating(settings, _read(path), path, subresource, how)


def _read(path: str) -> dict[Key, Any]:
    """The old objects. A file that cannot be read, or is no YAML, is a wrong argument here."""
    if os.path.isdir(path):
        raise exits.BadArguments(f"{path} is a directory: the old form is to be one file")
    try:
        found = {_key(each.object): each.object.value for each in opening.everything(inputs.Wanted([path]))}
    except goyaml.YamlError as error:
        raise exits.BadArguments(str(error)) from None
    return found


def _key(each: Object) -> Key:
    return each.said("kind"), each.meta("namespace") or "default", each.name


class Updating(Judge):
    """Judges objects as the new form of others."""

    def __init__(self, settings: Settings, old: dict[Key, Any], old_name: str, subresource: str, how: str) -> None:
        super().__init__(settings)
        self._old = old
        self._old_name = old_name
        self._subresource = subresource
        self._how = how
        self._told: dict[str, Any] = {}
        self._hint = ""
        self._before: Any = None

    def _object(self, each: Object, document: Document, lines: Callable[[int], str]) -> Result:
        self._told, self._hint, self._before = {}, "", None
        result = super()._object(each, document, lines)
        if result.skipped:
            return result
        errors = tuple(self._pointed(error, each, document, lines) for error in result.errors)
        return result._replace(update=self._told, errors=errors)

    def _pointed(self, error: Finding, each: Object, document: Document, lines: Callable[[int], str]) -> Finding:
        """Of a change that a pod's spec does not allow, the server names the spec; here the first such change is pointed at."""
        if error.field != "spec" or error.type != "FieldValueForbidden":
            return error
        for place in changed(self._before, each.value.get("spec"), ("spec",)):
            if not _ALLOWED.fullmatch(places.text(place)):
                line, column = places.mark(document, each.at, place)
                error = error._replace(line=line, column=column, source=lines(line))
                break
        return error._replace(hint=self._hint) if self._hint else error

    def ask(self, each: Object, chosen: Choice) -> Outcome | None:
        kind, namespace, name = _key(each)
        namespace = each.meta("namespace") or self.settings.namespace or "default"
        old = self._old.get((kind, namespace, name))
        if chosen.kind != selection.POD or old is None:
            self._told = {"allowed": None, "reason": NEW if old is None else NOT_JUDGED}
            return super().ask(each, chosen)
        stored = self._stored(old)
        if stored.refusal is not None or stored.pod is None:
            # What was never accepted cannot be updated.
            raise exits.BadArguments(
                f"{self._old_name}: the old {kind}/{name} is not valid itself: {stored.refusal and stored.refusal.message}"
            )
        outcome = self._updated(self._in_namespace(each.value), stored.pod, old)
        how = "apply" if self._applies(each.value) else "replace"
        self._told, self._before = {"how": how} | _about(outcome), old.get("spec")
        if not outcome.ok and not self._subresource:
            self._hint = self._other_door(each.value, stored.pod)
        return outcome

    def _stored(self, old: Any) -> Outcome:
        """The old pod as the server has it: it comes from there, or it is created first."""
        if _is_live(old):
            from strategy.outcome import Outcome
            from strategy.request import Answer

            pod = self.engine.stored(old)
            return Outcome(Answer(200, pod), pod)
        return self.engine.create(self._in_namespace(old), options={"fieldValidation": "Ignore"})

    def _updated(self, new: Any, stored: Any, old: Any) -> Outcome:
        if self._applies(new):
            from podstrat.check import applying

            before = applying.last_applied(old) if _is_live(old) else old
            body = applying.patch(before, new, self.engine.context.types)
            return self.engine.patch(body, stored, subresource=self._subresource, options=self._options)
        update = {
            "": self.engine.update,
            "status": self.engine.update_status,
            "resize": self.engine.resize,
            "ephemeralcontainers": self.engine.ephemeral_containers,
        }[self._subresource]
        return update(new, stored, options=self._options)

    def _applies(self, new: Any) -> bool:
        """What comes from a server goes back as a whole; a manifest is applied."""
        if self._how == "auto":
            return not _is_live(new) and not self._subresource
        return self._how == "apply"

    def _other_door(self, new: Any, stored: Any) -> str:
        """A subresource through which the whole change would be allowed."""
        for name, update in (("resize", self.engine.resize), ("ephemeralcontainers", self.engine.ephemeral_containers)):
            made = update(new, stored)
            if made.ok and made.pod is not None and made.pod != stored:
                after = self.engine.update(new, made.pod)
                if after.ok and after.pod is not None and after.pod["spec"] == made.pod["spec"]:
                    return f"it is allowed through a subresource: kubectl replace --subresource {name} -f FILE"
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


def _is_live(pod: Any) -> bool:
    """Whether a pod comes from a server: only there it gets a uid."""
    metadata = pod.get("metadata") if isinstance(pod, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("uid"))


def _about(outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"allowed": outcome.ok}
    if not outcome.ok or outcome.pod is None:
        return told
    told["generation"] = {"after": outcome.pod["metadata"].get("generation", 0)}
    for change in outcome.changes:
        if change.kind == "generation":
            told["generation"] = {"before": change.before, "after": change.after}
            told["reason"] = change.reason
    told["changes"] = [str(change) for change in outcome.changes if change.kind in ("dropped", "unknown", "reset")]
    return told
