"""The health of the devices that a running pod's containers were given: `kubectl get pod web -o yaml | podstrat status -`.

kubectl describe does not show it. An argument like pod/web is read from the cluster of the kubeconfig.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from podstrat import exits, printable
from podstrat.check import command
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.manifest import Object
    from podstrat.kubeclient.sync import Client

LISTS = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
PAGE = 500
"""Pods in one answer, as kubectl asks for them."""
COLUMNS = ("POD", "CONTAINER", "RESOURCE", "DEVICE", "HEALTH", "MESSAGE")


class Device(NamedTuple):
    """One device, as the pod's status has it."""

    pod: str
    container: str
    resource: str
    device: str
    health: str
    message: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="FILE", nargs="*", help="files with pods read from a server, - for standard input, or pod/NAME"
    )
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if a device is not Healthy")
    group = parser.add_argument_group("cluster of pod/NAME, as for kubectl")
    group.add_argument("-n", "--namespace", metavar="NAME")
    group.add_argument("-A", "--all-namespaces", action="store_true", help="every pod of the cluster")
    group.add_argument("--context", metavar="NAME")
    group.add_argument("--kubeconfig", metavar="FILE")


def run(args: argparse.Namespace) -> int:
    from podstrat import goyaml

    command.prepare(sys.stdout)
    try:
        pods = [each for each in _objects(args) if each.said("kind") == "Pod"]
    except goyaml.YamlError as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    if not pods:
        raise exits.BadArguments("no pod in the input")
    all_devices = [device for pod in pods for device in devices(pod)]
    print(_json(pods) if args.output == "json" else "\n".join(_table(pods, all_devices)))
    sick = any(device.health != "Healthy" for device in all_devices)
    return exits.INVALID if args.exit_code and sick else exits.OK


def _objects(args: argparse.Namespace) -> Iterator[Object]:
    from podstrat.check import inputs, manifest

    names = [path for path in args.paths if path.startswith(("pod/", "pods/", "po/"))]
    files = [path for path in args.paths if path not in names]
    if names or args.all_namespaces:
        for pod in _asked(names, args):
            yield from manifest.of(pod)
    if files or not (names or args.all_namespaces):
        for each in inputs.objects(inputs.InputArguments(files)):
            yield each.object


def _asked(names: list[str], args: argparse.Namespace) -> Iterator[Any]:
    """Pods of the cluster that the kubeconfig names."""
    from pathlib import Path
    from urllib.parse import quote

    from podstrat.kubeclient import kubeconfig
    from podstrat.kubeclient.errors import KubeClientError
    from podstrat.kubeclient.sync import Client

    try:
        config = kubeconfig.load(Path(args.kubeconfig) if args.kubeconfig else None, args.context)
        with Client(config) as client:
            if args.all_namespaces:
                yield from _every_pod(client)
            for name in () if args.all_namespaces else names:
                namespace = quote(args.namespace or config.namespace, safe="")
                yield client.call("GET", f"/api/v1/namespaces/{namespace}/pods/{quote(name.partition('/')[2], safe='')}")
    except KubeClientError as error:
        raise exits.BadArguments(str(error)) from None


def _every_pod(client: Client) -> Iterator[Any]:
    """All pods, page by page. Items of a list do not say their kind."""
    following = ""
    while True:
        page = client.call("GET", f"/api/v1/pods?limit={PAGE}{following}")
        yield from ({"apiVersion": "v1", "kind": "Pod", **pod} for pod in page.get("items") or ())
        token = (page.get("metadata") or {}).get("continue")
        if not token:
            return
        following = f"&continue={token}"


def devices(pod: Object) -> Iterator[Device]:
    """The devices of a pod in the order of its status."""
    status = pod.value.get("status")
    for name in LISTS:
        for container in _dicts(status, name):
            for resource in _dicts(container, "allocatedResourcesStatus"):
                for device in _dicts(resource, "resources"):
                    words = (device.get("resourceID"), device.get("health"), device.get("message"))
                    texts = [word if isinstance(word, str) else "" for word in words]
                    yield Device(
                        pod.name,
                        str(container.get("name", "")),
                        str(resource.get("name", "")),
                        texts[0],
                        texts[1] or "Unknown",
                        texts[2],
                    )


def _dicts(holder: Any, key: str) -> list[dict[str, Any]]:
    values = holder.get(key) if isinstance(holder, dict) else None
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _table(pods: list[Object], listed_devices: list[Device]) -> Iterator[str]:
    if listed_devices:
        rows = [COLUMNS, *([printable.plain(cell) or "-" for cell in device] for device in listed_devices)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield ""
    for pod in pods:
        yield f"{printable.plain(pod.name)}: {_counted(list(devices(pod)))}{_generations(pod)}"


def _counted(rows: list[Device]) -> str:
    if not rows:
        return "its status says nothing about devices"
    counts: dict[str, int] = {}
    for device in rows:
        counts[device.health] = counts.get(device.health, 0) + 1
    listed = ", ".join(f"{count} {printable.plain(health)}" for health, count in sorted(counts.items(), reverse=True))
    return f"{len(rows)} device{'' if len(rows) == 1 else 's'}: {listed}"


def _generations(pod: Object) -> str:
    """Whether the node has seen the spec as it is now."""
    spec = (pod.value.get("metadata") or {}).get("generation")
    observed = (pod.value.get("status") or {}).get("observedGeneration")
    if not isinstance(spec, int) or not isinstance(observed, int):
        return ""
    if observed < spec:
        return f"; the node has seen generation {observed} of {spec}"
    return f"; generation {spec} is seen by the node"


def _json(pods: list[Object]) -> str:
    result = [
        {
            "namespace": pod.meta("namespace"),
            "pod": pod.name,
            "generation": (pod.value.get("metadata") or {}).get("generation"),
            "observedGeneration": (pod.value.get("status") or {}).get("observedGeneration"),
            "devices": [{key: value for key, value in device._asdict().items() if key != "pod"} for device in devices(pod)],
        }
        for pod in pods
    ]
    return printable.dumps({"pods": result}, indent=2)
