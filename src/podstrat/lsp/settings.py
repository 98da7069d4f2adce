"""Settings of the workspace: the options of `podstrat check` under the names that editors use."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from podstrat import exits
from podstrat.check import options
from podstrat.check.evaluate import Evaluator

SECTION = "podstrat"
_FLAGS = {
    "kubernetesVersion": "--kubernetes-version",
    "featureGates": "--feature-gates",
    "fieldValidation": "--field-validation",
    "namespace": "--namespace",
    "podSecurity": "--pod-security",
    "admission": "--admission",
    "policies": "--policies",
    "world": "--world",
    "context": "--context",
    "sendAs": "--as",
    "skip": "--skip",
    "templatePaths": "--template-path",
    "customResources": "--custom-resources",
}
"""By setting, the option of the check. A list gives the option several times; gates may be a mapping."""


def plain(value: Any) -> Any:
    """Settings as pygls reads them, named tuples for objects, as plain mappings."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    return value


def evaluator(settings: Mapping[str, Any]) -> Evaluator:
    """The server that the settings describe. BadArguments, in the words of the command line, if there is no such server."""
    args = _parser().parse_args(list(_words(settings)))
    options.configured(args)
    if args.send is None:
        args.send = options.SENDING[0]
    plan = options.settings(args)
    if options.has_admission(args):
        from podstrat.check import admission

        plan = admission.Plan(args, plan, []).settings()
    return Evaluator(plan)


def _words(settings: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in settings.items():
        if value in (None, "", [], {}):
            continue
        if name not in _FLAGS:
            raise exits.BadArguments(f"unknown setting {SECTION}.{name} (one of: {', '.join(_FLAGS)})")
        for each in _texts(value):
            words.append(f"{_FLAGS[name]}={each}")
    return words


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [",".join(f"{key}={str(item).lower()}" for key, item in value.items())]
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise exits.BadArguments(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    options.server(parser)
    options.admission(parser)
    options.sending(parser)
    options.kinds(parser)
    options.configuration(parser)
    return parser
