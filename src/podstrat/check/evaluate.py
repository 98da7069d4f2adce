"""Evaluate one object: select what it is checked as, ask the engine, and turn the answer into a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import helm, kubectl, manifest, report, selection
from podstrat.check.report import Result
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podstrat.check.manifest import Object
    from podstrat.check.reference_index import Index
    from podstrat.check.report import Finding
    from podstrat.check.selection import Choice, TemplatePath
    from podstrat.check.template_pods import Pods
    from podstrat.goyaml import Document
    from podstrat.strategy.admission.settings import Admission
    from podstrat.strategy.outcome import Outcome
    from podstrat.strategy.ranges import Ranges

IGNORE = "podstrat.dev/ignore"
"""The annotation that names findings to ignore in its object."""


class Settings(NamedTuple):
    """How objects are judged: plain values, for every process."""

    version: str = "1.37"
    gates: tuple[tuple[str, bool], ...] = ()
    validation: str = "Strict"
    """fieldValidation: Strict, Warn or Ignore."""
    namespace: str = ""
    skip: frozenset[str] = frozenset()
    """Kinds, also as group/version/Kind, that are not looked at."""
    templates: tuple[TemplatePath, ...] = ()
    """Where custom resources have pod templates."""
    status: bool = False
    """Whether results carry the server's Status."""
    send: str = "raw"
    """How objects are sent: as kubectl apply, create or apply --server-side does, or the file as it is."""
    duplicates: str = ""
    """How duplicate keys are treated: Strict, Warn or Ignore; empty: as unknown fields are."""
    patch: bool = False
    """Whether results of updates carry a JSON patch."""
    carriers: str = "warn"
    """How findings in custom resources that are known to carry pod templates count: warn or error; skip leaves them out."""
    references: Index | None = None
    """What all files together have, if references to other objects are checked."""
    admission: Admission | None = None
    """The admission plugins, and the world that they look things up in; None for none."""
    pod_security: str = ""
    """The Pod Security level, with its version, that pods and pod templates must meet; empty for what the world says."""
    pods_bind: bool = False
    """Whether a workload whose pods admission plugins would refuse counts as refused itself; otherwise that is a warning."""
    service_ranges: Ranges | None = None
    """The networks of the cluster's Services; None if they are not known."""


class Evaluator:
    """A server of one release, ready to be asked."""

    def __init__(self, settings: Settings) -> None:
        from podstrat.strategy.engine import Engine

        self.settings = settings
        self.engine = Engine(
            settings.version, dict(settings.gates), admission=settings.admission, service_ranges=settings.service_ranges
        )
        self.options = {"fieldValidation": settings.validation}

    def document(self, document: Document, lines: Callable[[int], str]) -> Iterator[Result]:
        """The result of each object in a document; ``lines`` gives a line of the file by its number."""
        for each in manifest.of(document.value):
            yield self._object(each, document, lines)
        if document.duplicates and manifest.is_list(document.value):
            from podstrat.check import findings

            yield from findings.of_list(document, lines, self.settings.duplicates or self.settings.validation)

    def _object(self, each: Object, document: Document, lines: Callable[[int], str]) -> Result:
        choice = selection.choose(each, self.settings.skip, self.settings.templates, self.settings.carriers != "skip")
        if selection.KINDS.get(each.said("kind")) != each.said("apiVersion"):
            choice = self._served(each, choice, document.name)
        namespace = each.meta("namespace") or self._namespace(choice.kind)
        about = report.about(each, document, skipped=choice.skip, namespace=namespace)
        if choice.complaints and helm.is_own(document.name, each.value):
            return about._replace(skipped=helm.NOT_AN_OBJECT)
        hints = self._hints(each, choice, document, lines) if self.settings.references is not None else ()
        if choice.skip:
            return about._replace(skipped="", warnings=hints) if hints else about
        if self.settings.send != kubectl.RAW and choice.refusal is None:
            choice = choice._replace(refusal=kubectl.refusal(each.value, self.settings.send))
        outcome = self.ask(each, choice)
        pods = None
        if self.settings.admission is not None and outcome is not None:
            pods = self.pods(outcome, each, choice)
            if unknown := (*_unknown(outcome), *pods.unknown):
                about = about._replace(unknown=tuple(dict.fromkeys(unknown)))
        ignored = each.annotation(IGNORE)
        rejected = pods.refused if pods else ()
        if not (ignored or hints or rejected) and outcome is not None and not _is_odd(outcome, document, choice):
            return about._replace(code=outcome.code, status=outcome.status() if self.settings.status else None)
        from podstrat.check import findings

        result = findings.Findings(self, each, choice, document, lines).told(about, outcome, rejected)
        if hints:
            result = result._replace(warnings=(*result.warnings, *hints))
        if ignored:
            from podstrat.check import suppressions

            line, column = document.key_mark((*each.at, "metadata", "annotations", IGNORE))
            result = suppressions.by_annotation(result, ignored, line, column, lines(line))
        return result

    def _served(self, each: Object, choice: Choice, file: str) -> Choice:
        """kubectl refuses objects of API versions that are not served any more, whatever their kind."""
        from podstrat.check.removed_apis import REMOVED

        kind, api_version = each.said("kind"), each.said("apiVersion")
        if self.settings.send == kubectl.RAW or choice.skip == selection.NOT_WANTED or (api_version, kind) not in REMOVED:
            return choice
        return choice._replace(skip="", refusal=kubectl.no_match(kind, api_version, each, file))

    def _hints(self, each: Object, choice: Choice, document: Document, lines: Callable[[int], str]) -> tuple[Finding, ...]:
        """What the files together do not have, and this object names; nothing for kinds that are excluded."""
        if self.settings.references is None or choice.skip == selection.NOT_WANTED:
            return ()
        from podstrat.check import reference_hints

        return reference_hints.of(each, choice, self.settings.references, document, lines)

    # ---- asking the engine ---------------------------------------------------------------------------

    def ask(self, each: Object, choice: Choice) -> Outcome | None:
        """The server's answer; None if the object never gets there."""
        if choice.refusal or (choice.complaints and (self.settings.validation == "Strict" or not choice.kind)):
            return None
        value = kubectl.body(self._in_namespace(each.value, choice.kind), self.settings.send)
        if self.settings.send == kubectl.SERVER_SIDE:
            from podstrat.check import server_side

            outcome = server_side.apply(value, each, choice, self)
            if outcome is not None:
                return self._of_this_namespace(outcome, each, choice)
        return self.create(value, each, choice)

    def create(self, value: Any, each: Object, choice: Choice) -> Outcome:
        """The answer to a POST of an object."""
        if choice.templates:
            return self._templates(value, each, choice)
        if choice.kind == selection.POD:
            outcome = self.engine.create(value, options=self.options)
        elif each.said("kind") == choice.kind:
            outcome = self.engine.create_object(value, options=self.options)
        else:
            return self._misspelt(value, choice.kind)
        return self._of_this_namespace(outcome, each, choice)

    def pods(self, outcome: Outcome, each: Object, choice: Choice) -> Pods:
        """The pods of a workload; none of an object that is refused itself, or is a pod."""
        from podstrat.check import template_pods

        if not outcome.ok or choice.kind == selection.POD:
            return template_pods.NONE
        return template_pods.of(self._in_namespace(each.value, choice.kind), each, choice, self.engine)

    def says(self, each: Object, choice: Choice) -> Callable[[Any], str | None]:
        """What the server says to a value in an object's stead before it looks at its fields."""
        from podstrat.strategy.errors import ApiError

        def says(value: Any) -> str | None:
            if choice.templates:
                refusal = self._templates(value, each, choice).refusal
                return refusal.message if refusal and refusal.code == 400 else None
            try:
                self.engine.decoder.read(value, choice.kind, selection.KINDS[choice.kind], "Ignore")
            except ApiError as error:
                return error.message
            return None

        return says

    def _namespace(self, kind: str) -> str:
        """The namespace that an object without one is sent to; none for a kind that has none, as with kubectl -n."""
        return "" if kind in selection.CLUSTER_SCOPED else self.settings.namespace

    def _in_namespace(self, value: Any, kind: str = selection.POD) -> Any:
        """An object that names no namespace is sent to the one that -n says."""
        metadata, namespace = value.get("metadata"), self._namespace(kind)
        if not namespace or not isinstance(metadata, dict) or metadata.get("namespace"):
            return value
        return {**value, "metadata": {**metadata, "namespace": namespace}}

    def _of_this_namespace(self, outcome: Outcome, each: Object, choice: Choice) -> Outcome:
        """An object that names another namespace than -n is refused once it has been read."""
        own, expected = each.meta("namespace"), self._namespace(choice.kind)
        if not expected or own in ("", expected) or (outcome.refusal and outcome.code == 400):
            return outcome
        from podstrat.strategy import errors, pipeline
        from podstrat.strategy.verbs import incoming

        return pipeline.refused(errors.BadRequest(incoming.NAMESPACE_DIFFERS))

    def _misspelt(self, value: Any, kind: str) -> Outcome:
        """A kind in other letters than the server's: ``deployment``."""
        from podstrat.strategy import errors, pipeline

        try:
            self.engine.decoder.read(value, kind, selection.KINDS[kind], self.settings.validation)
        except errors.ApiError as error:
            return pipeline.refused(error)
        return self.engine.create_object({**value, "kind": kind}, options=self.options)

    def _templates(self, value: Any, each: Object, choice: Choice) -> Outcome:
        """The pod templates of a custom resource, as one answer about it."""
        from podstrat.check import custom_resources

        return custom_resources.templates(value, each, choice, self.engine, self.settings.validation)


def _unknown(outcome: Outcome) -> tuple[str, ...]:
    return () if outcome.admission is None else tuple(map(str, outcome.admission.hints))


def _is_odd(outcome: Outcome, document: Document, choice: Choice) -> bool:
    """Whether there is something to report."""
    return bool(outcome.refusal or outcome.warnings or document.duplicates or choice.complaints)
