"""Builds dist/podstrat.pyz: the command in one file, for machines that have Python and nothing else.

    python tools/make_zipapp.py [--output dist/podstrat.pyz]

It holds what check, diff, explain, matrix, status, gates and play need, with PyYAML's part in Python and jsonpatch. When it is
first run it unpacks itself into the user's cache: there Python keeps compiled modules, and later starts are as fast as those of
an installed package. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "podstrat"
ROOMS = ("strategy", "goyaml", "kubeclient", "cel")
"""Those that the offline commands need."""
SUFFIXES = (".py", ".json", ".typed", ".html", ".css", ".js", ".svg")
SHEBANG = b"#!/usr/bin/env python3\n"
EPOCH = (1980, 1, 1, 0, 0, 0)

MAIN = '''\
"""Unpacks podstrat into a cache, once, and runs it from there."""

import os
import sys

if sys.version_info < (3, 11):
    sys.exit("podstrat needs Python 3.11 or later; this is " + sys.version.split()[0])

ID = "{id}"


def unpacked(home):
    """The directory with the modules; built under another name first, then renamed atomically."""
    import shutil
    import tempfile
    import zipfile

    target = os.path.join(home, ID)
    if not os.path.isdir(target):
        os.makedirs(home, mode=0o700, exist_ok=True)
        made = tempfile.mkdtemp(dir=home)
        with zipfile.ZipFile(os.path.dirname(os.path.abspath(__file__))) as archive:
            archive.extractall(made)
        try:
            os.rename(made, target)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            if not os.path.isdir(target):
                raise
    return target


def modules():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    home = os.path.join(base, "podstrat")
    target = os.path.join(home, ID)
    if os.path.isdir(target):
        return target
    try:
        return unpacked(home)
    except OSError:
        import atexit
        import shutil
        import tempfile

        home = tempfile.mkdtemp(prefix="podstrat-pyz-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        return unpacked(home)


if __name__ == "__main__":
    sys.path.insert(0, modules())
    from podstrat.cli import main

    sys.exit(main())
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "podstrat.pyz", help="default: dist/podstrat.pyz")
    args = parser.parse_args()
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_bytes(SHEBANG + archive())
    args.output.chmod(0o755)
    print(f"{args.output} ({args.output.stat().st_size // 1024} KB)")


def archive() -> bytes:
    """The zip file."""
    files = dict(sorted(contents()))
    digest = hashlib.sha256()
    for name, data in files.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    files["__main__.py"] = MAIN.replace("{id}", digest.hexdigest()[:16]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, data)
    return out.getvalue()


def contents() -> Iterator[tuple[str, bytes]]:
    """The packages with their data, PyYAML and jsonpatch, and the licences of all."""
    import yaml

    yield from _tree(PACKAGE, "podstrat")
    for room in ROOMS:
        yield from _tree(PACKAGE / room, f"podstrat/{room}")
    home = Path(yaml.__file__).parent
    for path in sorted(home.glob("*.py")):
        yield f"yaml/{path.name}", path.read_bytes()
    for path in sorted(home.parent.glob("[Pp]y[Yy][Aa][Mm][Ll]-*.dist-info/**/LICENSE")):
        yield "yaml/LICENSE", path.read_bytes()
    for name in ("jsonpatch", "jsonpointer"):
        yield f"{name}.py", (home.parent / f"{name}.py").read_bytes()
        for path in sorted(home.parent.glob(f"{name}-*.dist-info/**/LICENSE*")):
            yield f"{name}.LICENSE", path.read_bytes()
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()


def _tree(home: Path, name: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.suffix in SUFFIXES:
            yield f"{name}/{path.relative_to(home).as_posix()}", path.read_bytes()


if __name__ == "__main__":
    main()
