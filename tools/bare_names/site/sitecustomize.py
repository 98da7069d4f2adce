"""Python imports this at its start where this folder is on PYTHONPATH: a child process of a watched one is watched too."""

import importlib.util
import os
import pathlib

if os.environ.get("PODSTRAT_BARE_NAMES"):
    folder = pathlib.Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location("podstrat_bare_names", folder / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.install()
