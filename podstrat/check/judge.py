"""One object: what the server says about it, and where in the file that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat.check import objects, selection
from podstrat.check.report import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goyaml import Document
    from podstrat.check.objects import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice, TemplatePath
    from strategy.outcome import Outcome


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


class Judge:
    """A server of one release, ready to be asked."""

    def __init__(self, settings: Settings) -> None:
        from strategy.engine import Engine

        self.settings = settings
        self.engine = Engine(settings.version, dict(settings.gates))
        self._options = {"fieldValidation": settings.validation}

    def document(self, document: Document, lines: Callable[[int], str]) -> Iterator[Result]:
        """The result of each object in a document; ``lines`` gives a line of the file by its number."""
        for each in objects.of(document.value):
            yield self._object(each, document, lines)
        if document.duplicates and objects.is_list(document.value):
            from podstrat.check import findings

            yield from findings.of_list(document, lines, self.settings.validation)

    def _object(self, each: Object, document: Document, lines: Callable[[int], str]) -> Result:
        chosen = selection.choose(each, self.settings.skip, self.settings.templates)
        about = Result(
            document.name,
            document.index,
            each.said("kind"),
            each.name,
            document.mark(each.at)[0] if each.at else document.line,
            skipped=chosen.skip,
            api_version=each.said("apiVersion"),
            namespace=each.meta("namespace") or self.settings.namespace,
            item=each.item,
        )
        if chosen.skip:
            return about
        outcome = self.ask(each, chosen)
        if outcome is not None and not (outcome.refusal or outcome.warnings or document.duplicates or chosen.complaints):
            return about._replace(code=outcome.code, status=outcome.status() if self.settings.status else None)
        from podstrat.check import findings

        return findings.Findings(self, each, chosen, document, lines).told(about, outcome)

    # ---- asking the engine ---------------------------------------------------------------------------

    def ask(self, each: Object, chosen: Choice) -> Outcome | None:
        """The server's answer; None if the object never gets there."""
        if chosen.complaints and (self.settings.validation == "Strict" or not chosen.kind):
            return None
        value = self._in_namespace(each.value)
        if chosen.templates:
            return self._templates(value, each, chosen.templates)
        if chosen.kind == selection.POD:
            outcome = self.engine.create(value, options=self._options)
        elif each.said("kind") == chosen.kind:
            outcome = self.engine.workload(value, options=self._options)
        else:
            return self._misspelt(value, chosen.kind)
        return self._of_this_namespace(outcome, each)

    def says(self, each: Object, chosen: Choice) -> Callable[[Any], str | None]:
        """What the server says to a value in an object's stead before it looks at its fields."""
        from strategy.errors import ApiError

        def says(value: Any) -> str | None:
            if chosen.templates:
                refusal = self._templates(value, each, chosen.templates).refusal
                return refusal.message if refusal and refusal.code == 400 else None
            try:
                self.engine.decoder.read(value, chosen.kind, selection.KINDS[chosen.kind], "Ignore")
            except ApiError as error:
                return error.message
            return None

        return says

    def _in_namespace(self, value: Any) -> Any:
        """An object that names no namespace is sent to the one that -n says."""
        metadata = value.get("metadata")
        if not self.settings.namespace or not isinstance(metadata, dict) or metadata.get("namespace"):
            return value
        return {**value, "metadata": {**metadata, "namespace": self.settings.namespace}}

    def _of_this_namespace(self, outcome: Outcome, each: Object) -> Outcome:
        """An object that names another namespace than -n is refused once it has been read."""
        said, wanted = each.meta("namespace"), self.settings.namespace
        if not wanted or said in ("", wanted) or (outcome.refusal and outcome.code == 400):
            return outcome
        from strategy import answers, errors, verbs

        return answers.refused(errors.BadRequest(verbs.NAMESPACE_DIFFERS))

    def _misspelt(self, value: Any, kind: str) -> Outcome:
        """A kind in other letters than the server's: ``deployment``."""
        from strategy import answers, errors

        try:
            self.engine.decoder.read(value, kind, selection.KINDS[kind], self.settings.validation)
        except errors.ApiError as error:
            return answers.refused(error)
        return self.engine.workload({**value, "kind": kind}, options=self._options)

    def _templates(self, value: Any, each: Object, at: tuple[Place, ...]) -> Outcome:
        """The pod templates of a custom resource, as one answer about it."""
        from podstrat.check import custom

        return custom.templates(value, each, at, self.engine, self.settings.validation)
