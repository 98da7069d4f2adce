"""What is read: files, directories, globs, standard input and kustomizations, in pieces that are checked one by one."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, TYPE_CHECKING, NamedTuple

from podstrat import exits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENDINGS = (".yaml", ".yml", ".json")
STDIN = "<stdin>"
LARGE = 1 << 20
"""Bytes from which on a file is read in pieces."""
PIECE = 1 << 18
"""Bytes of a piece: some sixty pods."""


class Source(NamedTuple):
    """Something to read, under the name that reports use."""

    name: str
    path: str = ""
    """Empty for what is not a file: then it is standard input, or ``text``."""
    size: int = 0
    text: bytes | None = None


class Piece(NamedTuple):
    """A part of a source that ends with a document, or a small source as a whole."""

    name: str
    path: str = ""
    """A file that is still to be read."""
    text: bytes = b""
    line: int = 1
    """The line of the file on which it begins."""
    size: int = 0


class Wanted(NamedTuple):
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


def sources(wanted: Wanted) -> Iterator[Source]:
    """Everything that was asked for, each once, directories in the order of names."""
    ignored = [_pattern(text) for text in wanted.ignored]
    seen: set[str] = set()
    for name in _names(wanted):
        if name == "-":
            found = Source(wanted.stdin_name or STDIN)
        else:
            if any(pattern.search(name) for pattern in ignored):
                continue
            found = Source(name, name, _size(name))
        if (found.path or found.name) not in seen:
            seen.add(found.path or found.name)
            yield found
    for directory in wanted.kustomizations:
        yield Source(f"kustomization {directory}", text=_kustomize(directory))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise exits.BadArguments(f"--ignore-filename-pattern: {text!r} is no regular expression: {error}") from None


def _names(wanted: Wanted) -> Iterator[str]:
    nothing = not (wanted.paths or wanted.filenames or wanted.kustomizations)
    if nothing:
        if sys.stdin is None or sys.stdin.isatty():
            raise exits.BadArguments("nothing to check: name files or directories, or - for standard input")
        yield "-"
    for path in wanted.paths:
        yield from _named(path, deep=True, hidden=False)
    for path in (part for name in wanted.filenames for part in name.split(",")):
        yield from _named(path, deep=wanted.recursive, hidden=True)


def _named(path: str, deep: bool, hidden: bool) -> Iterator[str]:
    if path == "-":
        yield path
    elif os.path.isdir(path):
        yield from _within(path, deep, hidden)
    elif os.path.exists(path):
        yield path  # whatever its ending: it was named
    elif path.startswith(("http://", "https://")):
        raise exits.BadArguments(f"{path}: podstrat does not use the network; try: curl -s {path} | podstrat check -")
    else:
        yield from _globbed(path, deep, hidden)


def _globbed(path: str, deep: bool, hidden: bool) -> Iterator[str]:
    if not any(char in path for char in "*?["):
        raise exits.BadArguments(f'the path "{path}" does not exist')
    from glob import glob

    found = sorted(glob(path, recursive=True))
    if not found:
        raise exits.BadArguments(f'nothing matches "{path}"')
    for each in found:
        if os.path.isdir(each):
            # Of the directories that a pattern meets only those that it ends with are meant.
            if not path.endswith("**"):
                yield from _within(each, deep, hidden)
        else:
            yield each


def _within(directory: str, deep: bool, hidden: bool) -> Iterator[str]:
    """The manifests in a directory. Without ``hidden`` what begins with a dot is passed by: .git, .github."""
    for here, below, names in os.walk(directory, onerror=_raise):
        below[:] = sorted(name for name in below if hidden or not name.startswith(".")) if deep else []
        for name in sorted(names):
            if name.endswith(ENDINGS) and (hidden or not name.startswith(".")):
                yield os.path.join(here, name).removeprefix(f".{os.sep}")


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
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise exits.BadArguments(f"-k {directory}: kubectl is needed to build a kustomization, and is not on the PATH") from None
    if done.returncode:
        raise exits.BadArguments(f"-k {directory}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


# ---- pieces ------------------------------------------------------------------------------------------


def pieces(source: Source) -> Iterator[Piece]:
    """The parts of a source; a small file is left to be read by whoever checks it. OSError if it cannot be read."""
    if source.text is not None:
        yield Piece(source.name, text=source.text, size=len(source.text))
    elif not source.path:
        yield from _split(source.name, sys.stdin.buffer)
    elif source.size < LARGE:
        yield Piece(source.name, source.path, size=source.size)
    else:
        with open(source.path, "rb") as file:
            yield from _split(source.name, file)


_BOMS = (b"\xff\xfe", b"\xfe\xff")


def _split(name: str, file: IO[bytes]) -> Iterator[Piece]:
    """A stream of YAML cut between documents. JSON and UTF-16 stay whole: where a document ends is seen only by reading it."""
    from goyaml.stream import breaks

    kept, line = file.read(PIECE), 1
    if kept.startswith(_BOMS) or kept.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b""):
        kept += file.read()
        yield Piece(name, text=kept, size=len(kept))
        return
    while more := file.read(PIECE):
        kept += more
        cut = kept.rfind(b"\n---") + 1
        if cut:
            yield Piece(name, text=kept[:cut], line=line, size=cut)
            line += breaks(kept[:cut])
            kept = kept[cut:]
    yield Piece(name, text=kept, line=line, size=len(kept))
