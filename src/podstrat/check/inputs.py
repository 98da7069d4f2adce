"""Inputs: files, directories, globs, standard input and kustomizations; split into pieces, or read object by object."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from typing import IO, TYPE_CHECKING

from podstrat import exits
from podstrat.check import helm
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from podstrat.check.manifest import Object
    from podstrat.goyaml import Document

ENDINGS = (".yaml", ".yml", ".json")
STDIN = "<stdin>"
LARGE = 1 << 20
"""Bytes from which on a file is read in pieces."""
PIECE = 1 << 18
"""Bytes of a piece: some sixty pods."""
LARGEST = 1 << 28
"""Bytes of a file, and of a document: a dump of the largest cluster has some hundred million."""
TOO_LARGE = f"larger than {LARGEST >> 20} MiB"
LINK = "a symbolic link out of the directory: --follow reads it, or name it"
SPECIAL = "not a regular file: --follow reads it, or name it"


class Source(NamedTuple):
    """Something to read, under the name that reports use."""

    name: str
    path: str = ""
    """Empty for what is not a file: then it is standard input, or ``text``."""
    size: int = 0
    text: bytes | None = None
    chart: bool = False
    """Whether it is the folder of a Helm chart, which is not read."""
    skip: str = ""
    """Why it is not read."""


class Piece(NamedTuple):
    """A part of a source that ends with a document, or a small source as a whole."""

    name: str
    path: str = ""
    """A file that is still to be read."""
    text: bytes = b""
    line: int = 1
    """The line of the file on which it begins."""
    size: int = 0
    chart: bool = False
    skip: str = ""


class InputArguments(NamedTuple):
    """What the command line asks for."""

    paths: Sequence[str] = ()
    """As linters take them: directories with all that is below."""
    filenames: Sequence[str] = ()
    """As ``kubectl -f`` takes them: of a directory only its files."""
    recursive: bool = False
    kustomizations: Sequence[str] = ()
    ignored: Sequence[str] = ()
    """Regular expressions: a path that one is found in is left out."""
    stdin_name: str = ""
    charts: Sequence[str] = ()
    """Helm charts to render; ``values`` are their values files."""
    values: Sequence[str] = ()
    version: str = ""
    namespace: str = ""
    follow: bool = False
    """Whether links out of a directory are followed, and special files in it read."""


def sources(selection: InputArguments) -> Iterator[Source]:
    """Everything that was asked for, each once, directories in the order of names."""
    ignored = [_pattern(text) for text in selection.ignored]
    names: set[str] = set()
    charts = helm.Charts()
    for name, skip in _names(selection):
        if name == "-":
            source = Source(selection.stdin_name or STDIN)
        else:
            if any(pattern.search(name) for pattern in ignored):
                continue
            chart = charts.of(name)
            source = Source(chart, chart=True) if chart else Source(name, name, 0 if skip else _size(name), skip=skip)
        if (source.path or source.name) not in names:
            names.add(source.path or source.name)
            yield source
    for directory in selection.kustomizations:
        yield Source(f"kustomization {directory}", text=_kustomize(directory))
    for chart in selection.charts:
        yield Source(f"chart {chart}", text=helm.render(chart, selection.values, selection.version, selection.namespace))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise exits.BadArguments(f"--ignore-filename-pattern: {text!r} is not a valid regular expression: {error}") from None


def _names(selection: InputArguments) -> Iterator[tuple[str, str]]:
    """Each path, and why it is not read; empty for those that are."""
    nothing = not (selection.paths or selection.filenames or selection.kustomizations or selection.charts)
    if nothing:
        if sys.stdin is None or sys.stdin.isatty():
            raise exits.BadArguments("no input: specify files or directories, or - for standard input")
        yield "-", ""
    for path in selection.paths:
        yield from _named(path, True, False, selection.follow)
    for path in (part for name in selection.filenames for part in name.split(",")):
        yield from _named(path, selection.recursive, True, selection.follow)


def _named(path: str, deep: bool, hidden: bool, follow: bool) -> Iterator[tuple[str, str]]:
    if path == "-":
        yield path, ""
    elif os.path.isdir(path):
        yield from _within(path, deep, hidden, follow)
    elif os.path.exists(path):
        yield path, ""  # whatever its ending, and whatever it is: it was named
    elif path.startswith(("http://", "https://")):
        raise exits.BadArguments(f"{path}: URLs are not supported; try: curl -s {path} | podstrat check -")
    else:
        yield from _globbed(path, deep, hidden, follow)


def _globbed(path: str, deep: bool, hidden: bool, follow: bool) -> Iterator[tuple[str, str]]:
    if not any(char in path for char in "*?["):
        raise exits.BadArguments(f'the path "{path}" does not exist')
    from glob import glob

    matches = sorted(glob(path, recursive=True))
    if not matches:
        raise exits.BadArguments(f'no files match "{path}"')
    for each in matches:
        if os.path.isdir(each):
            # Of the directories that a pattern meets only those that it ends with are meant.
            if not path.endswith("**"):
                yield from _within(each, deep, hidden, follow)
        else:
            root = path[: min(path.find(char) for char in "*?[" if char in path)].rpartition(os.sep)[0]
            yield each, "" if follow else outside(each, root or os.curdir)


def _within(directory: str, deep: bool, hidden: bool, follow: bool) -> Iterator[tuple[str, str]]:
    """The manifests in a directory. Without ``hidden`` what begins with a dot is passed by: .git, .github."""
    folders: set[str] = set()
    for here, below, names in os.walk(directory, onerror=_raise, followlinks=follow):
        if follow and (real := os.path.realpath(here)) in folders:
            below.clear()  # a link to a folder above, or to one that was read already
            continue
        elif follow:
            folders.add(real)
        below[:] = sorted(name for name in below if hidden or not name.startswith(".")) if deep else []
        for name in sorted(names):
            if name.endswith(ENDINGS) and (hidden or not name.startswith(".")):
                path = os.path.join(here, name)
                yield path.removeprefix(f".{os.sep}"), "" if follow else outside(path, directory)


def outside(path: str, root: str) -> str:
    """Why a file that was found, not named, is not read: somebody else may have put it there. Empty if it is read."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            real = os.path.realpath(path)
            if os.path.commonpath([real, os.path.realpath(root)]) != os.path.realpath(root):
                return LINK
            mode = os.stat(path).st_mode
    except OSError:
        return ""  # what is wrong with it is told when it is read
    return "" if stat.S_ISREG(mode) else SPECIAL


def _raise(error: OSError) -> None:
    raise error


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0  # what is wrong with it is told when it is read


def _kustomize(directory: str) -> bytes:
    """What kubectl builds from a kustomization."""
    import subprocess

    command = ["kubectl", "kustomize", directory]
    try:
        process = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise exits.BadArguments(
            f"-k {directory}: kubectl is required to build a kustomization and was not found on PATH"
        ) from None
    if process.returncode:
        raise exits.BadArguments(f"-k {directory}: {process.stderr.decode(errors='replace').strip()}")
    return process.stdout


# ---- pieces ------------------------------------------------------------------------------------------


def pieces(source: Source) -> Iterator[Piece]:
    """The pieces of a source; a small file is read by the process that checks it. OSError if it cannot be read."""
    if source.chart:
        yield Piece(source.name, chart=True)
    elif source.text is not None:
        yield Piece(source.name, text=source.text, size=len(source.text))
    elif source.skip:
        yield Piece(source.name, skip=source.skip)
    elif not source.path:
        yield from _split(source.name, sys.stdin.buffer)
    elif source.size > LARGEST:
        raise OSError(errno.EFBIG, TOO_LARGE)
    elif source.size < LARGE and os.path.isfile(source.path):
        yield Piece(source.name, source.path, size=source.size)
    else:
        with open(source.path, "rb") as file:
            yield from _split(source.name, file)


_BOMS = (b"\xff\xfe", b"\xfe\xff")


def _split(name: str, file: IO[bytes]) -> Iterator[Piece]:
    """A stream of YAML cut between documents. JSON and UTF-16 stay whole: where a document ends is seen only by reading it."""
    from podstrat.goyaml.stream import breaks

    buffer, line = file.read(PIECE), 1
    if buffer.startswith(_BOMS) or buffer.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b""):
        buffer += file.read(LARGEST + 1)
        _check_size(buffer)
        yield Piece(name, text=buffer, size=len(buffer))
        return
    parts, size, ends = [buffer], len(buffer), b"\n---" in buffer
    while more := file.read(PIECE):
        # Only the new part is searched, and parts are joined when a document ends: one large document is read in linear time.
        ends = ends or b"\n---" in parts[-1][-3:] + more
        parts.append(more)
        size += len(more)
        if size > LARGEST:
            raise OSError(errno.EFBIG, TOO_LARGE)
        if ends:
            buffer = b"".join(parts)
            cut = buffer.rfind(b"\n---") + 1
            yield Piece(name, text=buffer[:cut], line=line, size=cut)
            line += breaks(buffer[:cut])
            parts, size, ends = [buffer[cut:]], len(buffer) - cut, False
    buffer = b"".join(parts)
    yield Piece(name, text=buffer, line=line, size=len(buffer))


def _check_size(text: bytes) -> None:
    if len(text) > LARGEST:
        raise OSError(errno.EFBIG, TOO_LARGE)


def content(path: str) -> bytes:
    """The bytes of a file. Those of /proc have no size before they are read."""
    with open(path, "rb") as file:
        text = file.read(LARGEST + 1)
    _check_size(text)
    return text


def standard_input() -> bytes:
    """All of standard input, for those who read it more than once."""
    text = sys.stdin.buffer.read(LARGEST + 1)
    _check_size(text)
    return text


def may_be_shown(name: str, text: bytes) -> bool:
    """Whether lines of a file that is not YAML may be shown: not of one that is something else, such as /proc/self/environ."""
    named_so = name.endswith(ENDINGS) or not os.path.exists(name)
    return text.startswith(_BOMS) or (named_so and b"\0" not in text[:LARGE])


# ---- objects -----------------------------------------------------------------------------------------


class Opened(NamedTuple):
    """An object in its document."""

    object: Object
    document: Document

    @property
    def title(self) -> str:
        """``pod.yaml:1 Pod/web``."""
        line = self.document.mark(self.object.at)[0] if self.object.at else self.document.line
        kind, name = self.object.said("kind"), self.object.name
        return f"{self.document.name}:{line} {kind}/{name}" if name else f"{self.document.name}:{line} {kind}"


def objects(selection: InputArguments) -> Iterator[Opened]:
    """Every object of the inputs. OSError for a file that cannot be read, YamlError for one that is not valid YAML."""
    return objects_of(sources(selection))


def objects_of(files: Iterable[Source]) -> Iterator[Opened]:
    """Every object of these sources."""
    from podstrat import goyaml
    from podstrat.check import manifest

    for source in files:
        for piece in pieces(source):
            if piece.chart or piece.skip:
                continue
            text = content(piece.path) if piece.path else piece.text
            for document in goyaml.documents(text, piece.name, piece.line):
                for each in manifest.of(document.value):
                    yield Opened(each, document)
