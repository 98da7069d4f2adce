"""The arguments that the commands about manifests have in common, and what becomes of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from podstrat import exits
from podstrat.check import config

if TYPE_CHECKING:
    from podstrat.check.inputs import Wanted
    from podstrat.check.judge import Settings

RELEASES = ("1.34", "1.35", "1.36", "1.37")
VALIDATIONS = ("strict", "warn", "ignore")


def inputs(parser: argparse.ArgumentParser) -> None:
    """What to read."""
    what = parser.add_argument_group("what to read")
    what.add_argument("paths", metavar="PATH", nargs="*", help="files, directories (with all below), globs; - is standard input")
    what.add_argument(
        "-f", "--filename", metavar="PATH", action="append", default=[], help="the same as kubectl takes it; directories need -R"
    )
    what.add_argument("-R", "--recursive", action="store_true", help="-f: also the directories below")
    what.add_argument(
        "-k", "--kustomize", metavar="DIR", action="append", default=[], help="a kustomization, built by kubectl kustomize"
    )
    what.add_argument("--stdin-filename", metavar="NAME", default="", help="what to call standard input in the report")
    what.add_argument(
        "--ignore-filename-pattern", metavar="REGEX", action="append", help="leave out paths in which this is found"
    )


def server(parser: argparse.ArgumentParser, many: bool = False) -> None:
    """Whose rules."""
    rules = parser.add_argument_group("whose rules")
    if not many:
        rules.add_argument("-v", "--kubernetes-version", metavar="X.Y", help=f"{', '.join(RELEASES)} (default {RELEASES[-1]})")
    rules.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        action="append",
        help="as kube-apiserver takes them, AllAlpha and AllBeta too",
    )
    rules.add_argument(
        "--field-validation",
        choices=VALIDATIONS,
        help="unknown fields, and keys that are there twice: refuse, warn or do nothing, as kubectl (default strict)",
    )
    rules.add_argument("-n", "--namespace", metavar="NAME", help="where objects go that name no namespace; others are refused")


def kinds(parser: argparse.ArgumentParser) -> None:
    """Which objects."""
    which = parser.add_argument_group("which objects")
    which.add_argument("--skip", metavar="KIND,...", action="append", help="leave out these kinds, as Kind or group/version/Kind")
    which.add_argument(
        "--template-path",
        metavar="[KIND[.GROUP]=]PATH",
        action="append",
        help="where custom resources have pod templates: Rollout=spec.template, "
        "JobSet=spec.replicatedJobs[*].template.spec.template",
    )


def updates(parser: argparse._ActionsContainer) -> None:
    """How an update is sent."""
    parser.add_argument(
        "--how",
        choices=("auto", "replace", "apply"),
        default="auto",
        help="as kubectl apply or as kubectl replace; auto: a manifest is applied, what comes from a server is replaced",
    )
    parser.add_argument(
        "--subresource", choices=("status", "resize", "ephemeralcontainers"), default="", help="as kubectl replace"
    )


def configuration(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help=f"default: the nearest {config.NAMES[0]} upwards from here, or ${config.VARIABLE}"
    )


def configured(args: argparse.Namespace) -> str:
    """Fill in what the configuration file says and the command line does not. The result is the file's path."""
    path = config.find(args.config)
    if not path:
        return ""
    for name, value in config.read(path).items():
        if getattr(args, name, None) is None and hasattr(args, name):
            setattr(args, name, value)
    return path


def wanted(args: argparse.Namespace) -> Wanted:
    from podstrat.check.inputs import Wanted

    return Wanted(
        args.paths, args.filename, args.recursive, args.kustomize, args.ignore_filename_pattern or (), args.stdin_filename
    )


def settings(args: argparse.Namespace, status: bool = False) -> Settings:
    """How objects are judged. BadArguments if no server would start so."""
    from podstrat.check import selection
    from podstrat.check.judge import Settings
    from strategy import gates

    version = getattr(args, "kubernetes_version", None) or RELEASES[-1]
    try:
        overrides = feature_gates(args.feature_gates)
        major, minor = gates.parse_version(version)
        gates.enabled((major, minor), overrides)
        templates = tuple(selection.parse_path(text) for text in getattr(args, "template_path", None) or ())
    except ValueError as error:
        raise exits.BadArguments(str(error)) from None
    return Settings(
        f"{major}.{minor}",
        tuple(overrides.items()),
        validation(args),
        args.namespace or "",
        frozenset(part for text in getattr(args, "skip", None) or () for part in text.split(",")),
        templates,
        status,
    )


def validation(args: argparse.Namespace) -> str:
    """fieldValidation as the server takes it."""
    said = args.field_validation or VALIDATIONS[0]
    if said.lower() not in VALIDATIONS:
        raise exits.BadArguments(f"field validation is one of {', '.join(VALIDATIONS)}, not {said!r}")
    return str(said).capitalize()


def feature_gates(said: Any) -> dict[str, bool]:
    """Gates from flags, or from the configuration file, which has them as a mapping."""
    from strategy import gates

    return said if isinstance(said, dict) else gates.parse_flag(",".join(said or ()))
