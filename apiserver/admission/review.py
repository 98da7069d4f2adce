"""AdmissionReview v1 and v1beta1: the request sent to a webhook, and the validation of its response."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from podstrat.apiserver.admission.attributes import Attributes, Triple
from podstrat.strategy.api import types
from podstrat.strategy.decoding import codec, scheme
from podstrat.strategy.formats import go

Object = dict[str, Any]

GROUP = "admission.k8s.io"
KIND = "AdmissionReview"
VERSIONS = ("v1", "v1beta1")
PATCH_TYPE = "JSONPatch"
SCHEME = "k8s.io/apiserver/pkg/util/webhook/client.go:71"
"""Where the scheme of reviews is made; its messages say so."""

_TYPES = {
    KIND: {
        "kind": "string omitempty in=TypeMeta",
        "apiVersion": "string omitempty in=TypeMeta",
        "response": "AdmissionResponse * omitempty",
    },
    "AdmissionResponse": {
        "uid": "string go=types.UID",
        "allowed": "bool",
        "status": "Status * omitempty",
        "patch": "bytes omitempty",
        "patchType": "string * omitempty go=v1.PatchType",
        "auditAnnotations": "map[string]string omitempty",
        "warnings": "[]string omitempty",
    },
}


class Unusable(Exception):
    """An answer that cannot be used; the text says why, in the server's words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook has answered."""

    allowed: bool
    result: Object | None = None
    patch: bytes = b""
    patch_type: str = ""
    annotations: dict[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


# ---- the question ----------------------------------------------------------------------------------


def version(offered: Sequence[str]) -> str:
    """The first supported version of those that a webhook accepts; Unusable without one.

    Upstream: CreateAdmissionObjects
    """
    for each in offered:
        if each in VERSIONS:
            return each
    raise Unusable("webhook does not accept known AdmissionReview versions (v1, v1beta1)")


def question(attributes: Attributes, kind: Triple, resource: Triple, version: str, uid: str) -> Object:
    """The AdmissionReview that is sent."""
    request = {"uid": uid, **about(attributes, kind, resource)}
    objects = {"object": _as(attributes.new, kind), "oldObject": _as(attributes.old, kind)}
    last = {key: request.pop(key) for key in ("dryRun", "options")}
    return {"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": {**request, **objects, **last}}


def about(attributes: Attributes, kind: Triple, resource: Triple) -> Object:
    """The request without its id and its objects: what the conditions of a webhook may look at.

    Upstream: CreateV1AdmissionReview
    """
    user: Object = {"username": attributes.user.name, "groups": list(attributes.user.groups)}
    request = {
        "kind": kind.named("kind"),
        "resource": resource.named("resource"),
        "subResource": attributes.subresource,
        "requestKind": attributes.kind.named("kind"),
        "requestResource": attributes.resource.named("resource"),
        "requestSubResource": attributes.subresource,
        # A request for a whole collection names none of its objects.
        "name": "" if attributes.of_many else attributes.name,
        "namespace": attributes.namespace,
        "operation": attributes.operation,
        "userInfo": {key: value for key, value in user.items() if value},
        "dryRun": attributes.asked.dry_run,
        "options": attributes.asked.options,
    }
    return {key: value for key, value in request.items() if value != ""}


def _as(obj: Object | None, kind: Triple) -> Object | None:
    """The object in the version that the webhook knows."""
    if obj is None:
        return None
    api_version = f"{kind.group}/{kind.version}" if kind.group else kind.version
    return obj if obj.get("apiVersion") == api_version else {**obj, "kind": kind.name, "apiVersion": api_version}


# ---- the answer ------------------------------------------------------------------------------------


def decoded(body: bytes, version: str) -> Object:
    """The AdmissionReview in an answer; Unusable if it is none. What does not begin like a JSON object is read as YAML.

    Upstream: the LegacyCodec of NewClientManager
    """
    try:
        value = codec.parse(body) if body.lstrip().startswith(b"{") else _yaml(body)
        type_meta = codec.named_as(value, KIND, f"{GROUP}/{version}")
        if (type_meta.group, type_meta.version, type_meta.kind) != (GROUP, version, KIND):
            raise Unusable(_another(type_meta, version))
        return _decoder().decode(value, KIND).value
    except codec.DecodeError as error:
        raise Unusable(error.message) from None


def _yaml(body: bytes) -> Any:
    # Hardly ever needed: a webhook that is down often has a proxy with a page of HTML.
    from podstrat import goyaml

    try:
        return goyaml.load(body).value
    except goyaml.YamlError as error:
        raise Unusable(f"yaml: {error.message}") from None


def _another(type_meta: codec.Named, version: str) -> str:
    """The error for a response that is not an AdmissionReview of the expected version."""
    is_review = type_meta.kind == KIND and type_meta.group == GROUP and type_meta.version in VERSIONS
    if is_review or scheme.has_options(type_meta.api_version, type_meta.kind):
        return codec.unknown_conversion(f"{type_meta.version}.{type_meta.kind}", f"{version}.{KIND}")
    return scheme.unregistered(type_meta.kind, type_meta.group, type_meta.version, SCHEME)


def verdict(answer: Object, uid: str, version: str, mutating: bool) -> Verdict:
    """What the answer says, if it is one to the question.

    Upstream: VerifyAdmissionResponse
    """
    response = answer.get("response")
    if response is None:
        raise Unusable("webhook response was absent")
    if version == "v1":
        _fits(answer, response, uid)
        _patch_fits(response, mutating)
    return Verdict(
        response.get("allowed", False),
        response.get("status"),
        _patch(response) if mutating else b"",
        PATCH_TYPE if version != "v1" else response.get("patchType", ""),
        response.get("auditAnnotations") or {},
        response.get("warnings") or (),
    )


def _fits(answer: Object, response: Object, uid: str) -> None:
    if response.get("uid", "") != uid:
        raise Unusable(f"expected response.uid={go.quote(uid)}, got {go.quote(response.get('uid', ''))}")
    kind, api_version = answer.get("kind", ""), answer.get("apiVersion", "")
    if (kind, api_version) != (KIND, f"{GROUP}/v1"):
        # A version without a group is printed behind a slash.
        group_version = api_version if "/" in api_version else f"/{api_version}"
        raise Unusable(f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {group_version}, Kind={kind}")


def _patch_fits(response: Object, mutating: bool) -> None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not mutating:
        if patch:
            raise Unusable("validating webhook may not return response.patch")
        if kind is not None:
            raise Unusable("validating webhook may not return response.patchType")
    elif patch and kind is None:
        raise Unusable("webhook returned response.patch but not response.patchType")
    elif not patch and kind is not None:
        raise Unusable("webhook returned response.patchType but not response.patch")
    elif kind == "":
        raise Unusable('webhook returned invalid response.patchType of ""')


def _patch(response: Object) -> bytes:
    try:
        return base64.b64decode(response.get("patch") or "", validate=True)
    except binascii.Error as error:
        raise Unusable(str(error)) from None


@cache
def _decoder() -> codec.Decoder:
    return codec.Decoder(types.load(types.RELEASES[-1]).with_types(_TYPES))
