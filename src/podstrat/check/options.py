"""Command-line options shared by the commands that read manifests, and the settings made from them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from podstrat import exits
from podstrat.check import config

if TYPE_CHECKING:
    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import InputArguments, Source
    from podstrat.strategy.ranges import Ranges

RELEASES = ("1.34", "1.35", "1.36", "1.37")
CARRIED = ("warn", "error", "skip")
SENDING = ("apply", "create", "server-side-apply", "raw")
VALIDATIONS = ("strict", "warn", "ignore")


def inputs(parser: argparse.ArgumentParser) -> None:
    """What to read."""
    what = parser.add_argument_group("input")
    what.add_argument("paths", metavar="PATH", nargs="*", help="files, directories (recursively), globs; - for standard input")
    what.add_argument(
        "-f",
        "--filename",
        metavar="PATH",
        action="append",
        default=[],
        help="file or directory as for kubectl; subdirectories need -R",
    )
    what.add_argument("-R", "--recursive", action="store_true", help="with -f: process directories recursively")
    what.add_argument(
        "-k", "--kustomize", metavar="DIR", action="append", default=[], help="build a kustomization with kubectl kustomize"
    )
    what.add_argument(
        "--helm",
        metavar="DIR",
        action="append",
        default=[],
        help="render a chart with helm template; -f then names values files, as for helm",
    )
    what.add_argument(
        "--follow", action="store_true", help="in directories: follow links that lead out of them, read special files"
    )
    what.add_argument("--stdin-filename", metavar="NAME", default="", help="file name for standard input in the report")
    what.add_argument("--ignore-filename-pattern", metavar="REGEX", action="append", help="skip paths that match")


def server(parser: argparse.ArgumentParser, many: bool = False) -> None:
    """Whose rules."""
    rules = parser.add_argument_group("server")
    if not many:
        release(rules)
    gates_and_fields(rules)
    rules.add_argument(
        "--duplicate-keys", choices=VALIDATIONS, help="duplicate keys in YAML mappings alone (default: as --field-validation)"
    )
    rules.add_argument(
        "--service-cluster-ip-range",
        metavar="CIDR[,CIDR]",
        help="network of Service addresses, as for kube-apiserver; two for dual stack (default: IPv4, any address)",
    )
    rules.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        help="namespace of the request: the default for objects without one; objects of another are rejected",
    )


def release(rules: argparse._ActionsContainer) -> None:
    rules.add_argument("-v", "--kubernetes-version", metavar="X.Y", help=f"{', '.join(RELEASES)} (default {RELEASES[-1]})")


def gates_and_fields(rules: argparse._ActionsContainer) -> None:
    rules.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        action="append",
        help="as for kube-apiserver, including AllAlpha and AllBeta",
    )
    rules.add_argument(
        "--field-validation",
        choices=VALIDATIONS,
        help="unknown and duplicate fields: reject, warn or ignore, as kubectl (default strict)",
    )


def admission(parser: argparse.ArgumentParser, context: bool = True) -> None:
    """What a cluster does beyond the rules of a kind."""
    cluster = parser.add_argument_group("admission")
    cluster.add_argument(
        "--pod-security",
        metavar="LEVEL[:VERSION]",
        help="reject pods and pod templates that violate this level of the Pod Security Standards: baseline or restricted",
    )
    world(cluster, context)


def world(cluster: argparse._ActionsContainer, context: bool = True) -> None:
    """Where admission plugins look things up; ``context`` to offer a live cluster as well."""
    cluster.add_argument(
        "--world",
        metavar="PATH",
        action="append",
        help="file or directory with objects of the cluster, such as `podstrat world` writes: admission plugins look them up",
    )
    cluster.add_argument(
        "--policies",
        metavar="PATH",
        action="append",
        help="file or directory with ValidatingAdmissionPolicies, MutatingAdmissionPolicies, their bindings and parameters",
    )
    if context:
        cluster.add_argument("--context", metavar="NAME", help="read these objects from a cluster: a context of the kubeconfig")
    cluster.add_argument(
        "--admission",
        metavar="none|default|PLUGIN,...",
        help="admission plugins to run (default: those of the release if there is a world, else none)",
    )


def has_admission(args: argparse.Namespace) -> bool:
    return any(getattr(args, name, None) for name in ("pod_security", "policies", "world", "context", "admission"))


def admitted(args: argparse.Namespace, status: bool = False) -> tuple[Settings, list[Source]]:
    """How objects are judged, with the admission that is asked for, and what to read."""
    from podstrat.check import inputs

    base, sources = settings(args, status), list(inputs.sources(input_arguments(args)))
    if not has_admission(args):
        return base, sources
    from podstrat.check import admission

    plan = admission.Plan(args, base, sources)
    return plan.settings(), plan.sources


def sending(parser: argparse.ArgumentParser) -> None:
    """How the manifests are sent."""
    request = parser.add_argument_group("request")
    request.add_argument(
        "--as",
        dest="send",
        choices=SENDING,
        help="check what kubectl would send: apply (default), create or apply --server-side; raw: the file as it is",
    )


def kinds(parser: argparse.ArgumentParser) -> None:
    """Which objects."""
    which = parser.add_argument_group("objects")
    which.add_argument("--skip", metavar="KIND,...", action="append", help="skip these kinds: Kind or group/version/Kind")
    which.add_argument(
        "--template-path",
        metavar="[KIND[.GROUP]=]PATH",
        action="append",
        help="location of pod templates in custom resources, [*] for list items and .* for the values of a mapping: "
        "Gadget.example.com=spec.groups[*].template",
    )
    which.add_argument(
        "--custom-resources",
        choices=CARRIED,
        help="findings in pod templates of known custom resources (Argo Rollout, JobSet, KubeRay, ...): "
        "warn (default), error, or skip these kinds",
    )


def updates(parser: argparse._ActionsContainer) -> None:
    """How an update is sent."""
    parser.add_argument(
        "--how",
        choices=("auto", "replace", "apply"),
        default="auto",
        help="send the update as kubectl apply or kubectl replace; auto: apply manifests, replace objects read from a server",
    )
    parser.add_argument(
        "--subresource", choices=("status", "resize", "ephemeralcontainers"), default="", help="as kubectl replace"
    )


def configuration(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"configuration file (default: the nearest {config.NAMES[0]} in this or a parent directory, or ${config.VARIABLE})",
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


def input_arguments(args: argparse.Namespace) -> InputArguments:
    from podstrat.check.inputs import InputArguments

    return InputArguments(
        args.paths,
        () if args.helm else args.filename,
        args.recursive,
        args.kustomize,
        args.ignore_filename_pattern or (),
        args.stdin_filename,
        args.helm,
        args.filename if args.helm else (),
        getattr(args, "kubernetes_version", None) or RELEASES[-1],
        getattr(args, "namespace", None) or "",
        getattr(args, "follow", False),
    )


def settings(args: argparse.Namespace, status: bool = False) -> Settings:
    """How objects are judged. BadArguments if no server would start so."""
    from podstrat.check import selection
    from podstrat.check.evaluate import Settings
    from podstrat.strategy.gates import history

    version = getattr(args, "kubernetes_version", None) or RELEASES[-1]
    try:
        overrides = feature_gates(args.feature_gates)
        major, minor = history.parse_version(version)
        history.enabled((major, minor), overrides)
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
        _one_of("as", getattr(args, "send", None) or "raw", SENDING),
        _one_of("duplicate keys", args.duplicate_keys, VALIDATIONS).capitalize() if args.duplicate_keys else "",
        carriers=_one_of("custom resources", getattr(args, "custom_resources", None) or CARRIED[0], CARRIED),
        service_ranges=_service_ranges(args),
    )


def _service_ranges(args: argparse.Namespace) -> Ranges | None:
    if not getattr(args, "service_cluster_ip_range", None):
        return None
    from podstrat.strategy import ranges

    try:
        return ranges.parse(args.service_cluster_ip_range)
    except ValueError as error:
        raise exits.BadArguments(f"--service-cluster-ip-range: {error}") from None


def validation(args: argparse.Namespace) -> str:
    """fieldValidation as the server takes it."""
    return _one_of("field validation", args.field_validation or VALIDATIONS[0], VALIDATIONS).capitalize()


def _one_of(what: str, value: str, choices: tuple[str, ...]) -> str:
    if value.lower() not in choices:
        raise exits.BadArguments(f"{what} must be one of {', '.join(choices)}, not {value!r}")
    return value.lower()


def feature_gates(value: Any) -> dict[str, bool]:
    """Gates from flags, or from the configuration file, which has them as a mapping."""
    from podstrat.strategy.gates import history

    return value if isinstance(value, dict) else history.parse_flag(",".join(value or ()))
