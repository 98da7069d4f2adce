"""Compiles the hot modules of a pure wheel: the same wheel, for one Python on one platform.

    python -m tools.compile_wheel dist/podstrat-0.2.0-py3-none-any.whl [--build build/compiled] [--wheel-dir dist]

The wheel is unpacked into the build folder, mypyc makes C of the modules that pyproject.toml lists ([tool.podstrat.compiled]), a
file for each, and the C compiler works on as many of them at a time as there are processors. The sources stay beside the
extensions, so that tracebacks have lines. Nothing is written into the source tree: an editable installation stays pure.
docs/decisions/compiler.md says why mypyc, and what may be on the list.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GROUP = "podstrat"
"""All modules are in one library, podstrat__mypyc, beside the package: so they call each other as C functions."""
OPTIMISE = "2"
"""A create takes 3 to 5 % less time than with 1, the compiler a third more; 3, and optimising at link time, give no more."""
CALLS = ("-fvisibility=hidden", "-fno-semantic-interposition", "-fno-plt")
"""Functions of the library call each other, and Python's, without a stub between: a seventh fewer mispredicted branches."""
SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX") or ".so"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, help="the pure wheel")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "compiled", help="where to unpack and compile it")
    parser.add_argument("--wheel-dir", type=Path, default=ROOT / "dist", help="where the compiled wheel goes")
    args = parser.parse_args(argv)
    if shutil.which(compiler()) is None:
        print(f"there is no C compiler ({compiler()}): the pure wheel is all there is", file=sys.stderr)
        return 1
    tree = args.build.resolve() / "tree"
    unpack(args.wheel, tree)
    compile_in(tree, args.build.resolve() / "c", listed())
    print(pack(tree, args.wheel_dir))
    return 0


def compiler() -> str:
    """The command of the C compiler that Python's own extensions are made with."""
    return (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]


def listed() -> list[str]:
    """The paths of the modules to compile."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["podstrat"]["compiled"]
    return [f"podstrat/{folder}/{name}.py" for folder, names in table.items() for name in names]


def unpack(wheel: Path, tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree)


def compile_in(tree: Path, generated: Path, paths: list[str]) -> None:
    """Puts the extensions of some modules beside them. mypyc works in the current folder, so it has a process of its own."""
    shutil.rmtree(generated, ignore_errors=True)
    worker = [sys.executable, str(Path(__file__).resolve()), "--translate", str(generated), *paths]
    subprocess.run(worker, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree / ".mypy_cache", ignore_errors=True)


def translate(generated: Path, paths: list[str]) -> None:
    """What the process does: Python to C, C to objects, objects to extensions, each where its module is."""
    from mypyc.build import mypycify  # brings setuptools along, which has to come before distutils
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    options = ["--no-incremental", "--ignore-missing-imports", "--no-error-summary"]
    extensions = mypycify(
        [*options, *paths], opt_level=OPTIMISE, debug_level="0", multi_file=True, group_name=GROUP, target_dir=str(generated)
    )
    unix: Any = new_compiler()
    customize_compiler(unix)
    includes = [sysconfig.get_path("include")]

    def compiled(extension: Any, source: str) -> str:
        arguments = [*extension.extra_compile_args, *CALLS, "-w"]
        (made,) = unix.compile(
            [source],
            output_dir=str(generated / "objects"),
            include_dirs=[*includes, *extension.include_dirs],
            extra_postargs=arguments,
        )
        return str(made)

    def linked(extension: Any, objects: list[str]) -> None:
        unix.link_shared_object(objects, extension.name.replace(".", "/") + SUFFIX, extra_postargs=["-Wl,-s"])

    # The largest first: none of them is left for the end, when the other processors have nothing to do.
    jobs = [(extension, source) for extension in extensions for source in extension.sources]
    jobs.sort(key=lambda job: Path(job[1]).stat().st_size, reverse=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda job: compiled(*job), jobs))
        made: dict[str, list[str]] = {}
        for (extension, _), each in zip(jobs, done, strict=True):
            made.setdefault(extension.name, []).append(each)
        list(pool.map(lambda extension: linked(extension, made[extension.name]), extensions))


def pack(tree: Path, folder: Path) -> Path:
    """The wheel of an unpacked one with extensions in it."""
    (info,) = tree.glob("*.dist-info")
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{version}-{version}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    lines = [line for line in (info / "WHEEL").read_text().splitlines() if not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    (info / "WHEEL").write_text("\n".join([*filter(None, lines), "Root-Is-Purelib: false", f"Tag: {tag}", ""]))
    record = info / "RECORD"
    files = [path for path in sorted(tree.rglob("*")) if path.is_file() and path != record and "__pycache__" not in path.parts]
    record.write_text("".join(recorded(tree, files)) + f"{record.relative_to(tree).as_posix()},,\n")
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{info.name.removesuffix('.dist-info')}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [*files, record]:
            archive.write(path, path.relative_to(tree).as_posix())
    return wheel


def recorded(tree: Path, files: Iterable[Path]) -> Iterable[str]:
    """The lines of RECORD: path, hash and size of each file."""
    for path in files:
        content = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        yield f"{path.relative_to(tree).as_posix()},sha256={digest},{len(content)}\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--translate"]:
        translate(Path(sys.argv[2]), sys.argv[3:])
    else:
        sys.exit(main())
