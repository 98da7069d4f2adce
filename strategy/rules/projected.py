"""Projected volumes: config maps, secrets, downward API, tokens, trust bundles and certificates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import meta, selectors, volume_files

SAME_PATH = "conflicting duplicate paths"
ONE_KIND = "may not specify more than 1 volume type per source"

TOO_SHORT = "may not specify a duration less than 10 minutes"
TOO_LONG = "may not specify a duration larger than 2^32 seconds"

ONE_NAME = "only one of name and signerName may be used"
NO_NAME = "either name or signerName must be specified"
NO_SELECTOR = "labelSelector must be unset if name is specified"
NO_COLON = 'ClusterTrustBundle without signer name must not have ":" in its name'

SIGNER_FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
SIGNER_DOTS = "should be a domain with at least two segments separated by dots"
SIGNER_DOMAIN_LIMIT = 253  # a DNS subdomain
SIGNER_LIMIT = 571
"""A domain, a slash, and behind it a namespace, a dot and a name."""

KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
NO_PATHS = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
NEEDS_DOMAIN = 'must be a domain-prefixed key (such as "acme.io/foo")'
SHORTEST_CERTIFICATE = 3600  # seconds: an hour, as the API reference says
LONGEST_CERTIFICATE = 91 * 24 * 3600  # seconds: 91 days, as the API reference says
LONGEST_OF_KUBERNETES = 24 * 3600  # seconds: a day, for signers of kubernetes.io


def service_account_token() -> dict[str, Any]:
    """What the admission plugin ServiceAccount mounts into almost every pod of a cluster.

    Upstream: TokenVolumeSource
    """
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 420,
    }


SERVICE_ACCOUNT_TOKEN = service_account_token()
"""Nothing is wrong with it, and it is so common that it need not be looked into."""


class Files:
    """The files of one projected volume: where the volume stands, and the paths in it that are taken."""

    __slots__ = ("at", "paths")

    def __init__(self, at: str) -> None:
        self.at = at
        self.paths: set[str] = set()

    def taken(self, path: str) -> bool:
        """Whether another file has the path; it is taken from now on."""
        if path in self.paths:
            return True
        self.paths.add(path)
        return False

    def conflict(self, value: str, place: str) -> field.FieldError:
        """The server reports it of the whole volume."""
        return field.invalid(self.at, value, SAME_PATH, field.place_of(place))


def volume(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Each source is of one kind, or of none, and no two files have the same path.

    Upstream: validateProjectedVolumeSource, validateProjectionSources
    """
    if source == SERVICE_ACCOUNT_TOKEN:
        return
    yield from volume_files.defaults(source, at)
    files = Files(at)
    for i, projection in enumerate(source["sources"] or ()):
        if len(projection) == 1:
            for kind, projected_source in projection.items():
                yield from _KINDS[kind](projected_source, f"{at}.sources[{i}].{kind}", files, ctx)
            continue
        for kind, rule in _KINDS.items():
            if kind in projection:
                yield from rule(projection[kind], f"{at}.sources[{i}].{kind}", files, ctx)
        if projection:
            yield field.forbidden(f"{at}.sources[{i}]", ONE_KIND)


def _keys(source: dict[str, Any], at: str, files: Files, ctx: Context) -> Errors:
    """Keys of a ConfigMap or Secret."""
    name = source.get("name", "")
    if not name:
        yield field.required(f"{at}.name")
    for i, item in enumerate(source.get("items") or ()):
        yield from volume_files.item(item, f"{at}.items[{i}]")
        if item["path"] and files.taken(item["path"]):
            yield files.conflict(name, f"{at}.items[{i}].path")


def _downward_api(source: dict[str, Any], at: str, files: Files, ctx: Context) -> Errors:
    for i, item in enumerate(source.get("items") or ()):
        yield from volume_files.downward_item(item, at, i, ctx)
        if item["path"] and files.taken(item["path"]):
            yield files.conflict(item["path"], f"{at}.items[{i}].path")


def _token(source: dict[str, Any], at: str, files: Files, ctx: Context) -> Errors:
    """A token lives ten minutes at least. Its path is not compared with others, and is reported as the volume's.

    On an update any path will do if the stored pod already has a bad one.
    """
    seconds, path = source.get("expirationSeconds", 0), source["path"]
    if seconds < 600:
        yield field.invalid(f"{at}.expirationSeconds", seconds, TOO_SHORT)
    elif seconds > 2**32:
        yield field.invalid(f"{at}.expirationSeconds", seconds, TOO_LONG)
    if not path:
        yield field.required(f"{files.at}.path", where=field.place_of(f"{at}.path"))
    elif (faults := validation.local_file(path)) and not _bad_token_stored(ctx):
        yield from validation.each(f"{files.at}.path", path, faults, field.place_of(f"{at}.path"))
    if "user" in source:
        yield from volume_files.user(source["user"], f"{at}.user")


def _bad_token_stored(ctx: Context) -> bool:
    """Upstream: hasNonLocalProjectedTokenPath"""
    if ctx.old is None:
        return False
    return any(
        validation.local_file(projection["serviceAccountToken"]["path"])
        for volume in ctx.old["spec"].get("volumes") or ()
        if "projected" in volume
        for projection in volume["projected"]["sources"] or ()
        if "serviceAccountToken" in projection
    )


def _trust_bundle(source: dict[str, Any], at: str, files: Files, ctx: Context) -> Errors:
    """Trust bundles are chosen by name, or by signer and labels. Here even a missing path may be taken."""
    if "name" in source and "signerName" in source:
        printed = internal.text("ClusterTrustBundleProjection", source, ctx.version)
        yield field.invalid(at, source, ONE_NAME, show=printed)
    elif "name" in source:
        yield from _named_bundle(source, at, ctx)
    elif "signerName" in source:
        signer = source["signerName"]
        if not signer:
            yield field.required(f"{at}.signerName", "must be a valid signer name")
        yield from signer_name(signer, f"{at}.signerName")
        yield from selectors.label_selector(source.get("labelSelector"), f"{at}.labelSelector", ctx)
    else:
        yield field.required(at, NO_NAME)
    path = source["path"]
    if not path:
        yield field.required(f"{at}.path")
    elif faults := validation.local_file(path):
        yield from validation.each(f"{at}.path", path, faults)
    if files.taken(path):
        yield files.conflict(path, f"{at}.path")
    if "user" in source:
        yield from volume_files.user(source["user"], f"{at}.user")


def _named_bundle(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    name = source["name"]
    if not name:
        yield field.required(f"{at}.name", "must be a valid object name")
    for fault in _bundle_name(name):
        yield field.invalid(f"{at}.name", name, f"not a valid clustertrustbundlename: {fault}")
    if "labelSelector" in source:
        selector = source["labelSelector"]
        printed = internal.text("LabelSelector", selector, ctx.version)
        yield field.invalid(f"{at}.labelSelector", selector, NO_SELECTOR, show=printed)


def _bundle_name(name: str) -> validation.Messages:
    """A DNS subdomain; before it may stand the signer, colons for its slash, and a colon.

    Upstream: ValidateClusterTrustBundleName
    """
    signer, colon, own = name.rpartition(":")
    if not signer:
        return (NO_COLON,) if colon else validation.dns_subdomain(name)
    if "/" in signer:
        signer = signer.replace(":", "/")
        return (f"ClusterTrustBundle for signerName {signer} must be named with prefix {signer.replace('/', ':')}:",)
    return validation.dns_subdomain(own)


def signer_name(name: str, at: str) -> Errors:
    """A signer is a domain of two parts at least, a slash and a path; of each the first bad part is reported.

    Upstream: ValidateSignerName
    """
    if not name:
        yield field.required(at)
        return
    if name.count("/") != 1:
        yield field.invalid(at, name, SIGNER_FORM)
        return
    domain, _, path = name.partition("/")
    if len(domain.encode()) > SIGNER_DOMAIN_LIMIT:
        yield field.too_long(at, SIGNER_DOMAIN_LIMIT)
    yield from _first_bad_part(domain, at, validation.dns_label)
    if "." not in domain:
        yield field.invalid(at, domain, SIGNER_DOTS)
    yield from _first_bad_part(path, at, validation.dns_subdomain)
    if len(name.encode()) > SIGNER_LIMIT:
        yield field.too_long(at, SIGNER_LIMIT)


def _first_bad_part(text: str, at: str, form: validation.Format) -> Errors:
    for part in text.split("."):
        if faults := form(part):
            for fault in faults:
                yield field.invalid(at, text, f"validating label {go.quote(part)}: {fault}")
            return


def _certificate(source: dict[str, Any], at: str, files: Files, ctx: Context) -> Errors:
    """A pod certificate has a signer and a kind of key, and is written to a file at least."""
    signer = source.get("signerName", "")
    yield from signer_name(signer, f"{at}.signerName")
    if annotations := source.get("userAnnotations"):
        yield from _user_annotations(annotations, f"{at}.userAnnotations", ctx)
    if source.get("keyType", "") not in KEY_TYPES:
        # Not an enum but a plain string, so it prints quoted as Go does.
        kind = source.get("keyType", "")
        yield field.not_supported(f"{at}.keyType", kind, KEY_TYPES)._replace(shown=go.quote(kind))
    if "maxExpirationSeconds" in source:
        yield from _expiration(source["maxExpirationSeconds"], signer, f"{at}.maxExpirationSeconds")
    has_path = False
    for key in ("credentialBundlePath", "keyPath", "certificateChainPath"):
        path = source.get(key)
        if not path:
            continue
        has_path = True
        if faults := validation.local_file(path):
            yield from validation.each(f"{at}.{key}", path, faults)
        if files.taken(path):
            yield files.conflict(path, f"{at}.{key}")
    if not has_path:
        yield field.required(at, NO_PATHS)
    if "user" in source:
        yield from volume_files.user(source["user"], f"{at}.user")


def _user_annotations(annotations: dict[str, str], at: str, ctx: Context) -> Errors:
    """Keys have a domain before them, in any case, and all of it together is no larger than annotations may be. Since 1.35.

    Upstream: ValidateUserAnnotations, IsDomainPrefixedKey
    """
    for key in annotations:
        lower, place = key.lower(), (*field.place_of(at), key)
        if not key:
            yield field.required(at, where=place)
        elif faults := validation.label_key(lower, ctx.name_unit):
            yield from validation.each(at, lower, faults, place)
        elif "/" not in key:
            yield field.invalid(at, lower, NEEDS_DOMAIN, place)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > meta.ANNOTATIONS_LIMIT:
        yield field.too_long(at, meta.ANNOTATIONS_LIMIT)


def _expiration(seconds: int, signer: str, at: str) -> Errors:
    """An hour at least, and 91 days at most, or a day with one of Kubernetes' own signers."""
    domain = signer.partition("/")[0]
    own = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    longest = LONGEST_OF_KUBERNETES if own else LONGEST_CERTIFICATE
    if seconds < SHORTEST_CERTIFICATE:
        yield field.invalid(at, seconds, f"if provided, maxExpirationSeconds must be >= {SHORTEST_CERTIFICATE}")
    elif seconds > longest:
        yield field.invalid(at, seconds, f"if provided, maxExpirationSeconds must be <= {longest}")


_KINDS: dict[str, Callable[[dict[str, Any], str, Files, Context], Errors]] = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _downward_api,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _certificate,
}
"""The rule of each kind of source, in the server's order. The last two are there only while their gates let them."""
