"""Judge the objects of a cluster page by page, each as a create of what a client would send."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat.audit import listing, sent
from podstrat.audit.journal import Judged
from podstrat.audit.listing import Position
from podstrat.goyaml import Document
from podstrat.goyaml.nodes import Tree
from podstrat.kubeclient.errors import StatusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.audit.journal import Journal
    from podstrat.audit.listing import Page
    from podstrat.audit.progress import Progress
    from podstrat.check.cluster import Listed
    from podstrat.check.evaluate import Evaluator
    from podstrat.check.report import Result
    from podstrat.kubeclient.sync import Client

CONTROLLED = "judged through their controller"
DELETED = "being deleted"


class Scope(NamedTuple):
    """Which objects are looked at."""

    kinds: tuple[Listed, ...]
    namespace: str
    """Empty for all."""
    owned: bool
    """Whether objects are judged that a judged workload controls."""
    limit: int
    """Objects of a page."""


class Audit:
    """One pass over the objects of a cluster. It holds one page at a time."""

    def __init__(self, client: Client, evaluator: Evaluator, scope: Scope, progress: Progress) -> None:
        self._client = client
        self._evaluator = evaluator
        self._scope = scope
        self._progress = progress
        self._judged = {(kind.api_version, kind.kind) for kind in scope.kinds}

    def pages(self, journal: Journal | None) -> Iterator[Judged]:
        """The pages: first those of the journal, then the others, which are added to it."""
        kinds = {kind.kind: kind for kind in self._scope.kinds}
        kind, position = "", Position()
        for page in journal.pages() if journal else ():
            self._note(page)
            yield page
            kind, position = page.kind, page.position
            if not position.token:
                del kinds[kind]
        for listed in kinds.values():
            for page in self._kind(listed, position if listed.kind == kind else Position()):
                self._note(page)
                if journal:
                    journal.add(page)
                yield page

    def _note(self, page: Judged) -> None:
        """What a kind that cannot be listed controls is judged by itself."""
        if page.left_out:
            self._judged = {each for each in self._judged if each[1] != page.kind}

    def _kind(self, kind: Listed, start: Position) -> Iterator[Judged]:
        scope = self._scope
        self._progress.begin(kind.kind)
        pages = listing.pages(self._client, kind, scope.namespace, scope.limit, start, self._progress.restarted)
        try:
            for page in pages:
                judged = self._page(kind, page)
                self._progress.add(len(page.items), sum(bool(result.errors) for result in judged.results), page.remaining)
                yield judged
        except StatusError as error:
            if error.code not in (403, 404):
                raise
            # 404: a server without the kind has no objects of it.
            yield Judged(kind.kind, Position(), [], [], str(error) if error.code == 403 else "")
        else:
            self._progress.end()

    def _page(self, kind: Listed, page: Page) -> Judged:
        results: list[Result] = []
        others: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for obj in page.items:
            if reason := self._left_out(obj):
                others[reason, ()] += 1
                continue
            result = self._result(kind, obj)
            if result.errors or result.warnings or result.suppressed:
                results.append(result)
            else:
                others["", result.unknown] += 1
        return Judged(kind.kind, page.position, results, [(*key, times) for key, times in others.items()])

    def _left_out(self, obj: dict[str, Any]) -> str:
        metadata = obj["metadata"]
        if metadata.get("deletionTimestamp"):
            return DELETED
        if self._scope.owned:
            return ""
        owners: Iterable[dict[str, Any]] = metadata.get("ownerReferences") or ()
        controllers = {(owner.get("apiVersion"), owner.get("kind")) for owner in owners if owner.get("controller")}
        return CONTROLLED if controllers & self._judged else ""

    def _result(self, kind: Listed, obj: dict[str, Any]) -> Result:
        document = Document(sent.of(obj, kind.api_version, kind.kind), 1, _no_text)
        metadata = obj["metadata"]
        # The object's path on the server stands for its file; it has no lines.
        document.name = f"{kind.path(metadata.get('namespace', '')).lstrip('/')}/{metadata['name']}"
        (result,) = self._evaluator.document(document, _no_line)
        return result


def _no_text() -> Tree:
    return Tree(None, [], 1)


def _no_line(number: int) -> str:
    return ""
