"""Makes strategy/api/tables/*/internal.json: the names and the order in which each release prints its internal structs.

    python tools/make_internal.py

The sources are tools/upstream/internal-field-order.json, which lists the internal Go structs of pods of 1.36 and 1.37 as they are
declared, and internal-field-order-kinds.json.gz, which has those of the other kinds, every release of them, with what they embed
spread out. The table of the first release is whole; that of a later one holds only the structs that differ from the release
before. A row is

    [Go name, JSON key, zero value]            a scalar, a list or a map of scalars
    [Go name, JSON key, zero value, struct]    a struct, a pointer to one or a list of them

and a Go name of "" means that the fields of the struct stand among those around it.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "upstream" / "internal-field-order.json"
KINDS = Path(__file__).parent / "upstream" / "internal-field-order-kinds.json.gz"
TABLES = Path(__file__).parent.parent / "strategy" / "api" / "tables"

Fields = list[list[str]]
Structs = dict[str, Fields]
Table = dict[str, list[list[Any]]]

META = ("v1.Condition", "v1.LabelSelector")
WIRE = ("v1.", "v1alpha3.", "runtime.")
RAW = "runtime.RawExtension"
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
    ("ServiceSpec", "ClusterIPs"): "clusterIPs",
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
    ("resource.DeviceAttribute", "IntValue"): "int",
    ("resource.DeviceAttribute", "BoolValue"): "bool",
    ("resource.DeviceAttribute", "StringValue"): "string",
    ("resource.DeviceAttribute", "VersionValue"): "version",
    ("resource.DeviceAttribute", "IntValues"): "ints",
    ("resource.DeviceAttribute", "BoolValues"): "bools",
    ("resource.DeviceAttribute", "StringValues"): "strings",
    ("resource.DeviceAttribute", "VersionValues"): "versions",
}

_ACRONYM = re.compile(r"[A-Z]+s?$|[A-Z]+(?=[A-Z][a-z])|[A-Z]")


def main() -> None:
    for release, text in texts().items():
        (TABLES / release / "internal.json").write_text(text)


def texts() -> dict[str, str]:
    """The text of each release's file."""
    before: Table = {}
    made = {}
    others = kinds()
    for release, structs in releases().items():
        every = {**others[release], **structs}
        table = {name: rows(name, every) for name in sorted(every)}
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


def kinds() -> dict[str, Structs]:
    """The structs of the other kinds of every release. Those of meta/v1 print as on the wire, so they have no rows."""
    source: dict[str, dict[str, Fields | None]] = json.loads(gzip.decompress(KINDS.read_bytes()))
    return {
        ".".join(release.lstrip("v").split(".")[:2]): {
            name: _with_metadata(fields) for name, fields in structs.items() if fields and not name.startswith(WIRE)
        }
        for release, structs in source.items()
    }


def _with_metadata(fields: Fields) -> Fields:
    """Fields of which those of the embedded metadata, which alone have JSON names, stand for it as one."""
    if fields[0][0][0].isupper():
        return [field[:2] for field in fields]
    return [["", "metav1.ObjectMeta"], *([name, go_type] for name, go_type, *_ in fields if name[0].isupper())]


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
    if item == RAW:
        return [None, bare(RAW.removeprefix("runtime."))]
    held = [bare(item)] if item in structs or item.startswith("metav1.") or item in META else []
    if item.startswith("map[string]") and item.removeprefix("map[string]") in structs:
        held = [f"map {item.removeprefix('map[string]')}"]
    if go_type.startswith(("*", "[]", "map[")):
        return [None, *held]
    # Every other name is a string type.
    return [{}, *held] if held else [ZERO.get(go_type, "")]


def bare(go_type: str) -> str:
    return go_type.removeprefix("metav1.").removeprefix("v1.")


def json_key(name: str) -> str:
    """``HostPID`` is ``hostPID``, ``DNSPolicy`` is ``dnsPolicy``, ``WWIDs`` is ``wwids``."""
    start = _ACRONYM.match(name)
    assert start, name
    return start[0].lower() + name[start.end() :]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    main()
