"""Required and allowed fields of each kind of volume source."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation
from podstrat.strategy.rules import claim_templates, projected, volume_files

Rule = Callable[[dict[str, Any], str, Context], Errors]

HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS = ("Dedicated", "Managed", "Shared")
MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
PULL_POLICIES = ("Always", "IfNotPresent", "Never")

SIZE_LIMIT = "SizeLimit field must be a valid resource quantity"
DIRECTORY_MODE = "must be a number between 0 and 01777 (octal), both inclusive"
NO_CLIMBING = "must not contain '..'"
PARTITION = validation.between(1, 255)
LUN = validation.between(0, 255)
ISCSI_PREFIX = "must be valid format starting with iqn, eui, or naa"
ISCSI_FORM = "must be valid format"
DATASET_ONE = "datasetName and datasetUUID can not be specified simultaneously"
DATASET_NONE = "one of datasetName and datasetUUID is required"
REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
TENANT = "must be a UUID and may not exceed a length of 64 characters"
FC_NONE = "must specify either targetWWNs or wwids, but not both"
FC_ONE = "targetWWNs and wwids can not be specified simultaneously"
FC_LUN = "lun is required if targetWWNs is specified"
RESERVED_OPTION = "kubernetes.io and k8s.io namespaces are reserved"
DRIVER_LIMIT = 63  # a DNS label

_IQN_AUTHORITY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
_NOT_IN_IQN = ",;*&$|\t\n\f\r "


def _is_iqn(name: str) -> bool:
    """A date and a naming authority, a colon, and a name. Anything may stand before, as long as it begins with "iqn".

    The server's pattern, ``iqn\\.[0-9]{4}-[0-9]{2}\\.[A-Za-z0-9.-]+:[^,;*&$|\\s]+$``, is not tied to the start. Here it is
    matched colon by colon: as one pattern Python would try each of many dates up to the end.
    """
    name_from = max(name.rfind(other) for other in _NOT_IN_IQN) + 1
    start = 0
    while 0 <= (colon := name.find(":", start)) < len(name) - 1:
        before = name[start:colon]
        if colon >= name_from and _ends_with_authority(before):
            return True
        start = colon + 1
    return False


def _ends_with_authority(text: str) -> bool:
    """Whether a text ends with a date and an authority."""
    authority = len(text.rstrip(_IQN_AUTHORITY))
    return re.search(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]", text[authority:]) is not None


def _is_eui(name: str) -> bool:
    return re.fullmatch(r"eui.[A-Za-z0-9]{16}", name) is not None


def _is_naa(name: str) -> bool:
    return re.fullmatch(r"naa.[A-Za-z0-9]{32}", name) is not None


_ISCSI_FORMS: dict[str, Callable[[str], bool]] = {"iqn": _is_iqn, "eui": _is_eui, "naa": _is_naa}
_HOST_PORT = r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*"


def _needs(*names: str) -> Rule:
    """The rule of a source that just has to have some fields."""

    def rule(source: dict[str, Any], at: str, ctx: Context) -> Errors:
        for name in names:
            if not source.get(name):
                yield field.required(f"{at}.{name}")

    return rule


def _empty_dir(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """The limit is not negative; the mode, since 1.37 and while the gate EmptyDirVolumeMode lets it, is a directory's."""
    if "sizeLimit" in source and quantity.parse(source["sizeLimit"]).sign < 0:
        yield field.forbidden(f"{at}.sizeLimit", SIZE_LIMIT)
    if "mode" in source and not 0 <= source["mode"] <= 0o1777:
        yield field.invalid(f"{at}.mode", source["mode"], DIRECTORY_MODE)


def _host_path(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """The path does not climb, and what is to be there is of a known type.

    Upstream: validateHostPathVolumeSource
    """
    path = source["path"]
    if not path:
        yield field.required(f"{at}.path")
        return
    if ".." in path.split("/"):
        yield field.invalid(f"{at}.path", path, NO_CLIMBING)
    if source.get("type", "") not in HOST_PATH_TYPES:
        yield field.not_supported(f"{at}.type", source["type"], HOST_PATH_TYPES)


def _git_repo(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateGitRepoVolumeSource"""
    if not source["repository"]:
        yield field.required(f"{at}.repository")
    if directory := source.get("directory"):
        yield from validation.each(f"{at}.directory", directory, validation.local_path(directory))


def _gce_disk(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateGCEPersistentDiskVolumeSource; its paths call the source persistentDisk."""
    if not source["pdName"]:
        yield field.required(f"{_other_name(at, 'persistentDisk')}.pdName", where=field.place_of(f"{at}.pdName"))
    # 0 means no partition: the whole disk.
    if not 0 <= source.get("partition", 0) <= 255:
        path, place = f"{_other_name(at, 'persistentDisk')}.partition", field.place_of(f"{at}.partition")
        yield field.invalid(path, source["partition"], PARTITION, place)


def _other_name(at: str, name: str) -> str:
    """The path with another last name."""
    return f"{at.rpartition('.')[0]}.{name}"


def _aws_disk(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateAWSElasticBlockStoreVolumeSource"""
    if not source["volumeID"]:
        yield field.required(f"{at}.volumeID")
    if not 0 <= source.get("partition", 0) <= 255:
        yield field.invalid(f"{at}.partition", source["partition"], PARTITION)


def _secret(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateSecretVolumeSource"""
    if not source.get("secretName"):
        yield field.required(f"{at}.secretName")
    if not volume_files.has_plain_defaults(source):
        yield from volume_files.defaults(source, at)
    if "items" in source:
        yield from volume_files.items(source["items"], f"{at}.items")


def _config_map(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateConfigMapVolumeSource"""
    if not source.get("name"):
        yield field.required(f"{at}.name")
    if not volume_files.has_plain_defaults(source):
        yield from volume_files.defaults(source, at)
    if "items" in source:
        yield from volume_files.items(source["items"], f"{at}.items")


def _downward_api(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateDownwardAPIVolumeSource"""
    yield from volume_files.defaults(source, at)
    for i, item in enumerate(source.get("items") or ()):
        yield from volume_files.downward_item(item, at, i, ctx)


def _nfs(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateNFSVolumeSource"""
    path = source["path"]
    if not source["server"]:
        yield field.required(f"{at}.server")
    if not path:
        yield field.required(f"{at}.path")
    if not path.startswith("/"):
        yield field.invalid(f"{at}.path", path, "must be an absolute path")


def _iscsi(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A target has a portal, a qualified name and a unit; CHAP needs a secret.

    Upstream: validateISCSIVolumeSource
    """
    if not source["targetPortal"]:
        yield field.required(f"{at}.targetPortal")
    if not source["iqn"]:
        yield field.required(f"{at}.iqn")
    elif fault := _iscsi_fault(source["iqn"]):
        yield field.invalid(f"{at}.iqn", source["iqn"], fault)
    if not 0 <= source["lun"] <= 255:
        yield field.invalid(f"{at}.lun", source["lun"], LUN)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        yield field.required(f"{at}.secretRef")
    if "initiatorName" in source and (fault := _iscsi_fault(source["initiatorName"])):
        place = field.place_of(f"{at}.initiatorName")
        yield field.invalid(f"{at}.initiatorname", source["initiatorName"], fault, place)


def _iscsi_fault(name: str) -> str:
    form = _ISCSI_FORMS.get(name[:3])
    if form is None:
        return ISCSI_PREFIX
    return "" if form(name) else ISCSI_FORM


def _flocker(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateFlockerVolumeSource"""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        yield field.required(at, DATASET_NONE)
    if name and uuid:
        yield field.invalid(at, "resource", DATASET_ONE)
    if "/" in name:
        yield field.invalid(f"{at}.datasetName", name, "must not contain '/'")


def _cinder(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateCinderVolumeSource"""
    if not source["volumeID"]:
        yield field.required(f"{at}.volumeID")
    if "secretRef" in source and not source["secretRef"].get("name"):
        yield field.required(f"{at}.secretRef.name")


def _quobyte(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """The registry is a list of hosts with ports, one error for each that is not. Too long a tenant counts as a missing one.

    Upstream: validateQuobyteVolumeSource
    """
    registry = source["registry"]
    if not registry:
        yield field.required(f"{at}.registry", REGISTRY)
    elif len(source.get("tenant", "").encode()) > 64:
        yield field.required(f"{at}.tenant", TENANT)
    else:
        for pair in registry.split(","):
            if not re.fullmatch(_HOST_PORT, pair):
                yield field.invalid(f"{at}.registry", registry, REGISTRY)
    if not source["volume"]:
        yield field.required(f"{at}.volume")


def _fc(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A fibre channel target has world wide names and a unit, or identifiers.

    Upstream: validateFCVolumeSource
    """
    names, identifiers = source.get("targetWWNs"), source.get("wwids")
    if not names and not identifiers:
        yield field.required(f"{at}.targetWWNs", FC_NONE)
    if names and identifiers:
        yield field.invalid(f"{at}.targetWWNs", names, FC_ONE)
    if not names:
        return
    if "lun" not in source:
        yield field.required(f"{at}.lun", FC_LUN)
    elif not 0 <= source["lun"] <= 255:
        yield field.invalid(f"{at}.lun", source["lun"], LUN)


def _flex_volume(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Options do not stand in the namespaces of Kubernetes.

    Upstream: validateFlexVolumeSource
    """
    if not source["driver"]:
        yield field.required(f"{at}.driver")
    for key in source.get("options") or ():
        namespace = "." + key.partition("/")[0].lower()
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            yield field.invalid(f"{at}.options[{key}]", key, RESERVED_OPTION, (*field.place_of(at), "options", key))


def _azure_disk(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """The form of diskURI depends on the kind of disk; a kind that is not known counts as unmanaged.

    Upstream: validateAzureDisk
    """
    uri, kind, caching = source["diskURI"], source.get("kind"), source.get("cachingMode")
    if not source["diskName"]:
        yield field.required(f"{at}.diskName")
    if not uri:
        yield field.required(f"{at}.diskURI")
    if caching is not None and caching not in CACHING_MODES:
        yield field.not_supported(f"{at}.cachingMode", caching, CACHING_MODES)
    if kind is not None and kind not in DISK_KINDS:
        yield field.not_supported(f"{at}.kind", kind, DISK_KINDS)
    # Not an enum but a plain string, so it prints quoted as Go does.
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        yield field.not_supported(f"{at}.diskURI", uri, (MANAGED_DISK,))._replace(shown=go.quote(uri))
    if kind not in (None, "Managed") and not uri.startswith("https://"):
        yield field.not_supported(f"{at}.diskURI", uri, (BLOB_DISK,))._replace(shown=go.quote(uri))


def _storage_os(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateStorageOSVolumeSource"""
    name, namespace = source.get("volumeName"), source.get("volumeNamespace")
    if not name:
        yield field.required(f"{at}.volumeName")
    else:
        yield from validation.each(f"{at}.volumeName", name, validation.dns_label(name))
    if namespace:
        yield from validation.each(f"{at}.volumeNamespace", namespace, validation.dns_label(namespace))
    if "secretRef" in source and not source["secretRef"].get("name"):
        yield field.required(f"{at}.secretRef.name")


def _csi(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A driver is a DNS subdomain in any case; the secret's name is reported as the volume's.

    Upstream: validateCSIVolumeSource, ValidateCSIDriverName
    """
    driver = source["driver"]
    if not driver:
        yield field.required(f"{at}.driver")
    if len(driver.encode()) > DRIVER_LIMIT:
        yield field.too_long(f"{at}.driver", DRIVER_LIMIT)
    # Up to 1.34 a missing driver is also a bad one.
    if driver or ctx.version < V1_35:
        yield from validation.each(f"{at}.driver", driver, validation.dns_subdomain(driver.lower()))
    if "nodePublishSecretRef" not in source:
        return
    secret = source["nodePublishSecretRef"].get("name")
    if not secret:
        yield field.required(f"{at}.nodePublishSecretRef.name")
    elif faults := validation.dns_subdomain(secret):
        yield from validation.each(f"{at}.name", secret, faults, field.place_of(f"{at}.nodePublishSecretRef.name"))


def _image(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateImageVolumeSource; while the gate ImageVolume is off, volumes with an image do not get here."""
    policy = source.get("pullPolicy")
    if not source.get("reference"):
        yield field.required(f"{at}.reference")
    if not policy:
        yield field.required(f"{at}.pullPolicy")
    elif policy not in PULL_POLICIES:
        yield field.not_supported(f"{at}.pullPolicy", policy, PULL_POLICIES)


RULES: dict[str, Rule] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _gce_disk,
    "awsElasticBlockStore": _aws_disk,
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _iscsi,
    "glusterfs": _needs("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": _needs("claimName"),
    "rbd": _needs("monitors", "image"),
    "cinder": _cinder,
    "cephfs": _needs("monitors"),
    "quobyte": _quobyte,
    "downwardAPI": _downward_api,
    "fc": _fc,
    "flexVolume": _flex_volume,
    "configMap": _config_map,
    "azureFile": _needs("secretName", "shareName"),
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _storage_os,
    "projected": projected.volume,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": claim_templates.volume,
    "image": _image,
}
"""The rule of each source, in the order in which the server looks for them."""
