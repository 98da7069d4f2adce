"""Takes out every error and every warning of the engine in turn, and names those that no test misses.

    python -m tools.mutate                                  all of strategy/; two minutes on two cores
    python -m tools.mutate --only strategy/rules/ports.py   one file or folder (may be given several times)

A site is found in the syntax tree, not in a list: in a generator of errors every `yield`, and every `yield from`, which calls
another rule; in a generator of messages or warnings every text; and whatever is added to `warnings`. All modules are compiled
once, with a switch at each site. One run of the recorded cases and of the tests notes which of them come by which site. Then one
site after the other is switched off, and only what comes by it is run again. A site is noticed when a case no longer agrees with
the recorded answer, or when a test fails. Tests that try random values are left out: they meet other sites each time.

Exits with 0 if at least 99 % of errors and warnings, and of calls, are noticed.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pytest

from tests.conformance.recorded import Recording, crd_recordings, kind_recordings, recordings

if TYPE_CHECKING:
    from tests.conformance.replay import Verdict

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "podstrat.strategy"
FOLDER = "strategy"
TEXTS_IN = (f"{FOLDER}/kinds/", f"{FOLDER}/rules/", f"{FOLDER}/warn/", f"{FOLDER}/workloads.py")
"""Where a generator of strings is one of messages; elsewhere it may be one of paths."""
TESTS = ("tests/strategy", "tests/docs/test_examples.py")
ENOUGH = 99  # per cent of the mutants that tests must notice; a rule that other rules leave nothing to is not noticed
KINDS = ("error", "warning", "call")
TITLES = {"errors and warnings": ("error", "warning"), "calls": ("call",)}
OUT, THROUGH = "__mutate_out__", "__mutate_through__"
T = TypeVar("T")
FORK = multiprocessing.get_context("fork")


class Site(NamedTuple):
    """One thing that can be taken out."""

    number: int
    path: str
    line: int
    last_line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.text}"


# ---- the switches, and the modules compiled with them --------------------------------------------------


class Switches:
    """Which site is off, and which sites something has come by."""

    def __init__(self) -> None:
        self.off: int | None = None
        self.reached: set[int] = set()

    def out(self, number: int) -> bool:
        """Whether a statement is to be left out."""
        self.reached.add(number)
        return number == self.off

    def through(self, number: int, items: Iterable[Any]) -> Generator[Any, None, Any]:
        """What a rule yields, or nothing of it; and what it returns. Only a rule that yields something has been reached."""
        rest = iter(items)
        while True:
            try:
                item = next(rest)
            except StopIteration as end:
                return end.value
            if not self.out(number):
                yield item

    @contextmanager
    def without(self, site: Site) -> Iterator[None]:
        self.off = site.number
        try:
            yield
        finally:
            self.off = None


class Switched(ast.NodeTransformer):
    """Finds the sites of one file, and puts a switch at each."""

    def __init__(self, path: str, source: str, first: int = 0) -> None:
        self.path = path
        self.sites: list[Site] = []
        self._lines = source.splitlines()
        self._first = first
        self._makes = [""]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._makes.append(_made_by(node, self.path))
        self.generic_visit(node)
        self._makes.pop()
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Yield) and self._is_site(value):
            return self._guarded(node, "warning" if self._makes[-1] == "warning" else "error")
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "warnings.append":
            return self._guarded(node, "warning")
        if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("warnings.extend"):
            value.args[0] = self._wrapped(value.args[0], node, "warning")
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.target) == "warnings":
            node.value = self._wrapped(node.value, node, "warning")
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        self.generic_visit(node)
        if self._makes[-1]:
            leaf = ast.unparse(node.value).startswith("validation.each(")
            node.value = self._wrapped(node.value, node, "error" if leaf else "call")
        return node

    def _is_site(self, node: ast.Yield) -> bool:
        makes = self._makes[-1]
        return makes == "error" or (makes in ("message", "warning") and isinstance(node.value, (ast.JoinedStr, ast.Constant)))

    def _guarded(self, node: ast.stmt, kind: str) -> ast.stmt:
        test = ast.Call(ast.Name(OUT, ast.Load()), [ast.Constant(self._add(node, kind))], [])
        return ast.copy_location(ast.If(test, [ast.Pass()], [node]), node)

    def _wrapped(self, value: ast.expr, node: ast.stmt | ast.expr, kind: str) -> ast.expr:
        number = ast.Constant(self._add(node, kind))
        return ast.copy_location(ast.Call(ast.Name(THROUGH, ast.Load()), [number, value], []), value)

    def _add(self, node: ast.stmt | ast.expr, kind: str) -> int:
        number, last = self._first + len(self.sites), node.end_lineno or node.lineno
        text = " ".join(line.strip() for line in self._lines[node.lineno - 1 : last])
        self.sites.append(Site(number, self.path, node.lineno, last, kind, text))
        return number


def _made_by(node: ast.FunctionDef, path: str) -> str:
    """What a generator makes, by what it says it returns."""
    returns = ast.unparse(node.returns) if node.returns else ""
    if returns in ("Errors", "Iterator[FieldError]") or returns.startswith("Finds["):
        return "error"
    if returns == "Warnings" or (returns in ("Iterator[str]", "Iterable[str]") and path.startswith(TEXTS_IN)):
        return "message" if path.startswith(f"{FOLDER}/rules/") else "warning"
    return ""


@dataclass
class Program:
    """The engine with a switch at every site."""

    switches: Switches = field(default_factory=Switches)
    sites: list[Site] = field(default_factory=list)
    code: dict[str, CodeType] = field(default_factory=dict)

    def add(self, path: str, source: str) -> CodeType:
        switched = Switched(path, source, len(self.sites))
        tree = ast.fix_missing_locations(switched.visit(ast.parse(source)))
        self.sites += switched.sites
        self.code[path] = compile(tree, str(ROOT / path), "exec", dont_inherit=True)
        return self.code[path]

    def names(self) -> dict[str, Any]:
        return {OUT: self.switches.out, THROUGH: self.switches.through}

    def install(self) -> None:
        """From now on the package is imported with its switches."""
        if PACKAGE in sys.modules:
            raise RuntimeError(f"{PACKAGE} has been imported already")
        for file in sorted((ROOT / FOLDER).rglob("*.py")):
            self.add(file.relative_to(ROOT).as_posix(), file.read_text())
        sys.meta_path.insert(0, _Finder(self))
        # All at once: what pytest finds unimported of a plugin's package it would load by itself, without switches.
        for path in self.code:
            import_module(".".join(("podstrat", *Path(path).with_suffix("").parts)).removesuffix(".__init__"))


class _Finder(MetaPathFinder):
    def __init__(self, program: Program) -> None:
        self.program = program

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != PACKAGE and not name.startswith(f"{PACKAGE}."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self.program)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, program: Program) -> None:
        super().__init__(name, path)
        self.program = program

    def get_code(self, fullname: str) -> CodeType:
        return self.program.code[Path(self.path).resolve().relative_to(ROOT).as_posix()]

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.program.names())
        super().exec_module(module)


# ---- the recorded cases --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Chosen(Recording):
    """Some cases of a file."""

    chosen: list[dict[str, Any]]

    def cases(self) -> Iterator[dict[str, Any]]:
        return iter(self.chosen)


class Cases:
    """The recorded cases that agree, and which of them come by which site."""

    def __init__(self, switches: Switches) -> None:
        self.switches = switches
        self.custom = {recording.name: recording for recording in crd_recordings()}
        self.recordings = {recording.name: recording for recording in (*recordings(), *kind_recordings())} | self.custom
        self.reaching: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
        self.kinds: dict[int, set[str]] = defaultdict(set)

    def record(self) -> Counter[bool]:
        """Runs everything once; how many cases agree, and how many do not."""
        from tests.conformance import workloads

        agree: Counter[bool] = Counter()
        for name, recording in self.recordings.items():
            cases = {case["id"]: case for case in recording.cases()}
            for verdict in self._verdicts(recording):
                for number in self._come_by(verdict.whole):
                    self.reaching[number][name].append(cases[verdict.id])
                agree[verdict.whole] += 1
        for judged in workloads.verdicts():
            for number in self._come_by(judged.whole):
                self.kinds[number].add(judged.kind)
            agree[judged.whole] += 1
        return agree

    def _verdicts(self, recording: Recording) -> Iterator[Verdict]:
        from tests.conformance import crds, replay

        return (crds if recording.name in self.custom else replay).verdicts(recording)

    def _come_by(self, agrees: bool) -> set[int]:
        reached, self.switches.reached = self.switches.reached, set()
        return reached if agrees else set()

    def notice(self, site: Site) -> bool:
        """Whether any case misses a site: it has another answer, or none because something breaks."""
        with self.switches.without(site):
            try:
                return not self._agree(site)
            except Exception:
                return True

    def _agree(self, site: Site) -> bool:
        from tests.conformance import workloads

        for name, cases in self.reaching.get(site.number, {}).items():
            recording = self.recordings[name]
            chosen = Chosen(name, recording.version, recording.gates, recording.objects, recording.namespace, chosen=cases)
            if not all(verdict.whole for verdict in self._verdicts(chosen)):
                return False
        return all(verdict.whole for kind in self.kinds.get(site.number, ()) for verdict in workloads.verdicts(kind))

    def count(self, site: Site) -> int:
        return sum(map(len, self.reaching.get(site.number, {}).values())) + len(self.kinds.get(site.number, ()))


# ---- the tests -----------------------------------------------------------------------------------------


class Tests:
    """A pytest session that runs each test only in children: once to note what it comes by, then again without a site."""

    __test__ = False

    def __init__(self, switches: Switches, sites: Sequence[Site]) -> None:
        self.switches = switches
        self.sites = sites
        self.noticed: list[Site] = []
        self.reaching: dict[int, list[int]] = {}
        self.items: list[pytest.Item] = []
        self.failed = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Failed("the tests cannot be collected")
        self.items = [item for item in session.items if not _is_random(item)]
        self.reaching, red = in_child(self._record)
        for name in red:
            print(f"left out, for it fails as it is: {name}", flush=True)
        self.noticed = [site for site in self.sites if site.number in self.reaching and in_child(partial(self._notice, site))]
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    def _record(self) -> tuple[dict[int, list[int]], list[str]]:
        """The tests that come by each site, first those that come by few others; and the names of those that fail anyway."""
        reached, red = [set[int]() for _ in self.items], []
        for i, item in enumerate(self.items):
            self.switches.reached.clear()
            if self._passes(i):
                reached[i] |= self.switches.reached
            else:
                red.append(item.nodeid)
        reaching = defaultdict(list)
        for i in sorted(range(len(reached)), key=lambda i: len(reached[i])):
            for number in reached[i]:
                reaching[number].append(i)
        return dict(reaching), red

    def _notice(self, site: Site) -> bool:
        with self.switches.without(site):
            return not all(map(self._passes, self.reaching[site.number]))

    def _passes(self, i: int) -> bool:
        self.failed = False
        item = self.items[i]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed


def _is_random(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def in_child(work: Callable[[], T]) -> T:
    """What work gives, done in a fork: nothing of it is left behind, so that a test can be run any number of times."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=lambda: sender.send(work()))
    child.start()
    sender.close()
    try:
        result: T = receiver.recv()
    finally:
        child.join()
    return result


# ---- the command ---------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a file or folder of strategy/ (may be given several times)")
    only = [Path(each).resolve() for each in parser.parse_args().only]
    os.chdir(ROOT)
    program = Program()
    program.install()
    sites = [site for site in program.sites if not only or any((ROOT / site.path).is_relative_to(each) for each in only)]
    if not sites:
        parser.error(f"nothing to take out in {', '.join(map(str, only))}")
    return survey(program.switches, sites)


def survey(switches: Switches, sites: Sequence[Site]) -> int:
    """Takes out one site after another, and prints what came of it; the exit code."""
    cases = Cases(switches)
    agree = cases.record()
    print(f"{len(sites)} sites; {agree[True]} recorded cases, and {agree[False]} left out that do not agree as it is", flush=True)
    noticed = {}
    with ProcessPoolExecutor(os.cpu_count(), FORK, _share, (cases,)) as pool:
        for site, seen in zip(sites, _counted(pool.map(_notice, sites, chunksize=4), len(sites)), strict=True):
            noticed[site] = "cases" if seen else ""
    left = [site for site in sites if not noticed[site]]
    tests = Tests(switches, left)
    if left:
        print(f"{len(left)} sites that no recorded case misses; now the tests", flush=True)
        # The warning is about podstrat, the plugin's package: it has been imported with its switches, and is to stay so.
        quiet = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:cov", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        if code := pytest.main([*TESTS, *quiet], plugins=[tests]):
            return int(code)
        noticed |= dict.fromkeys(tests.noticed, "tests")
    _print_table(noticed)
    _print_survivors([site for site in sites if not noticed[site]], cases, tests)
    return 0 if min(_share_noticed(noticed).values()) >= ENOUGH else 1


_cases: Cases


def _share(cases: Cases) -> None:
    global _cases
    _cases = cases


def _notice(site: Site) -> bool:
    return _cases.notice(site)


def _counted(items: Iterable[T], total: int) -> Iterator[T]:
    """Progress, a line every hundred."""
    for i, item in enumerate(items, 1):
        if i % 100 == 0 or i == total:
            print(f"{i} of {total}", flush=True)
        yield item


def _share_noticed(noticed: Mapping[Site, str]) -> dict[str, float]:
    """In per cent: of errors and warnings together, and of calls."""
    shares = {}
    for title, kinds in TITLES.items():
        of = [by for site, by in noticed.items() if site.kind in kinds]
        if of:
            shares[title] = 100 * sum(map(bool, of)) / len(of)
    return shares


def _print_table(noticed: Mapping[Site, str]) -> None:
    print(f"{'file':40} {'errors':>12} {'warnings':>12} {'calls':>12}   (noticed of all)")
    for path in [*sorted({site.path for site in noticed}), "all"]:
        cells = []
        for kind in KINDS:
            of = [by for site, by in noticed.items() if site.kind == kind and path in (site.path, "all")]
            cells.append(f"{sum(map(bool, of))}/{len(of)}" if of else "")
        print(f"{path:40} {cells[0]:>12} {cells[1]:>12} {cells[2]:>12}")
    by = Counter(noticed.values())
    print(f"noticed by recorded cases {by['cases']}, only by tests {by['tests']}, by nothing {by['']}")
    for title, share in _share_noticed(noticed).items():
        print(f"{title}: {share:.1f} % noticed")


def _print_survivors(survivors: Sequence[Site], cases: Cases, tests: Tests) -> None:
    for site in survivors:
        near, tried = cases.count(site), len(tests.reaching.get(site.number, ()))
        print(f"{site}\n    {f'not missed by {near} cases and {tried} tests' if near + tried else 'nothing comes by'}")


if __name__ == "__main__":
    sys.exit(main())
