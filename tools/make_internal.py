"""Makes strategy/tables/internal-*.json: the names and the order in which each release prints its internal structs.

    python tools/make_internal.py

The source, tools/upstream/internal-field-order.json, lists the internal Go structs of 1.36 and 1.37 as they are declared. The
table of the first release is whole; that of a later one holds only the structs that differ from the release before. A row is

    [Go name, JSON key, zero value]            a scalar, a list or a map of scalars
    [Go name, JSON key, zero value, struct]    a struct, a pointer to one or a list of them

and a Go name of "" means that the fields of the struct stand among those around it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "upstream" / "internal-field-order.json"
TABLES = Path(__file__).parent.parent / "strategy" / "tables"

Fields = list[list[str]]
Structs = dict[str, Fields]
Table = dict[str, list[list[Any]]]

ZERO = {
    "bool": False,
    "int32": 0,
    "int64": 0,
    "intstr.IntOrString": 0,
    "resource.Quantity": "0",
    "ResourceList": None,
}

RENAMED = {
    ("AzureDiskVolumeSource", "DataDiskURI"): "diskURI",
    ("GlusterfsVolumeSource", "EndpointsName"): "endpoints",
    ("ISCSIVolumeSource", "DiscoveryCHAPAuth"): "chapAuthDiscovery",
    ("ISCSIVolumeSource", "SessionCHAPAuth"): "chapAuthSession",
    ("PodSpec", "DeprecatedServiceAccount"): "serviceAccount",
    ("RBDVolumeSource", "CephMonitors"): "monitors",
    ("RBDVolumeSource", "RBDImage"): "image",
    ("RBDVolumeSource", "RBDPool"): "pool",
    ("RBDVolumeSource", "RadosUser"): "user",
    ("VolumeSource", "CephFS"): "cephfs",
    ("VolumeSource", "StorageOS"): "storageos",
}

_ACRONYM = re.compile(r"[A-Z]+s?$|[A-Z]+(?=[A-Z][a-z])|[A-Z]")


def main() -> None:
    for release, text in texts().items():
        (TABLES / f"internal-{release}.json").write_text(text)


def texts() -> dict[str, str]:
    """The text of each release's file."""
    before: Table = {}
    made = {}
    for release, structs in releases().items():
        table = {name: rows(name, structs) for name in sorted(structs)}
        changed = [f'"{name}":{compact(table[name])}' for name in table if table[name] != before.get(name)]
        made[release] = "{\n" + ",\n".join(changed) + "\n}\n"
        before = table
    return made


def releases() -> dict[str, Structs]:
    """The structs of every release, the first one first."""
    source: dict[str, Structs] = json.loads(SOURCE.read_text())
    of_1_36 = source["v1.36.4"]
    # 1.35 had workloadRef where 1.36 has schedulingGroup; 1.34 had neither, nor the annotations of a pod certificate.
    spec, certificate = of_1_36["PodSpec"], of_1_36["PodCertificateProjection"]
    of_1_35 = of_1_36 | {
        "PodSpec": [*without(spec, "SchedulingGroup"), ["WorkloadRef", "*WorkloadReference"]],
        "WorkloadReference": [["Name", "string"], ["PodGroup", "string"], ["PodGroupReplicaKey", "string"]],
    }
    del of_1_35["PodSchedulingGroup"]
    of_1_34 = of_1_35 | {
        "PodSpec": without(spec, "SchedulingGroup"),
        "PodCertificateProjection": without(certificate, "UserAnnotations"),
    }
    del of_1_34["WorkloadReference"]
    return {"1.34": of_1_34, "1.35": of_1_35, "1.36": of_1_36, "1.37": source["v1.37.0-rc.1"]}


def without(fields: Fields, name: str) -> Fields:
    return [field for field in fields if field[0] != name]


def rows(struct: str, structs: Structs) -> list[list[Any]]:
    """The rows of one struct; what it embeds is spread out, as it is in JSON."""
    made: list[list[Any]] = []
    for name, go_type in structs[struct]:
        if name:
            made.append([name, RENAMED.get((struct, name)) or json_key(name), *shape(go_type, structs)])
        elif go_type in structs:
            made.extend(rows(go_type, structs))
        else:
            # Metadata is embedded too, but the versioned struct gives it a key of its own.
            made.append(["", "metadata", {}, bare(go_type)])
    return made


def shape(go_type: str, structs: Structs) -> list[Any]:
    """The zero value of a Go type, and the struct that it is made of, if any."""
    item = go_type.removeprefix("*").removeprefix("[]")
    held = [bare(item)] if item in structs or item.startswith("metav1.") else []
    if go_type.startswith(("*", "[]", "map[")):
        return [None, *held]
    # Every other name is a string type.
    return [{}, *held] if held else [ZERO.get(go_type, "")]


def bare(go_type: str) -> str:
    return go_type.removeprefix("metav1.")


def json_key(name: str) -> str:
    """``HostPID`` is ``hostPID``, ``DNSPolicy`` is ``dnsPolicy``, ``WWIDs`` is ``wwids``."""
    start = _ACRONYM.match(name)
    assert start, name
    return start[0].lower() + name[start.end() :]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
