"""The strategy and the rules of Secrets."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.decoding.walk import described
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.kinds import config_map, plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion

ACCOUNT = "kubernetes.io/service-account.name"
REDACTED = "<secret contents redacted>"
TLS, PEM = "kubernetes.io/tls", b"-----BEGIN "


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """stringData is written over data, and gone.

    Upstream: SetDefaults_Secret, Convert_v1_Secret_To_core_Secret
    """
    if texts := obj.pop("stringData", None):
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
    if not obj.get("type"):
        obj["type"] = "Opaque"


def rules(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: ValidateSecret"""
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    data = obj.get("data") or {}
    for key in data:
        yield from config_map.keys(key, "data")
    if sum(map(config_map.decoded_size, data.values())) > config_map.MAX_SIZE:
        yield field.too_long("data", config_map.MAX_SIZE)
    yield from _by_type(obj, data)


def _by_type(obj: Pod, data: Pod) -> Errors:
    """What the type of a secret says that is in it."""
    kind = obj["type"].removeprefix("kubernetes.io/") if obj["type"].startswith("kubernetes.io/") else ""
    if kind == "service-account-token" and not (obj["metadata"].get("annotations") or {}).get(ACCOUNT):
        yield field.required(f"metadata.annotations[{ACCOUNT}]")
    elif kind in ("dockercfg", "dockerconfigjson"):
        yield from _docker(data, f".{kind}")
    elif kind == "basic-auth" and "username" not in data and "password" not in data:
        yield field.required("data[username]")
        yield field.required("data[password]")
    elif kind == "ssh-auth" and not data.get("ssh-privatekey"):
        yield field.required("data[ssh-privatekey]")
    elif kind == "tls":
        for key in ("tls.crt", "tls.key"):
            if key not in data:
                yield field.required(f"data[{key}]", where=("data", key))


def _docker(data: Pod, key: str) -> Errors:
    """Credentials of registries are an object in JSON."""
    if key not in data:
        yield field.required(f"data[{key}]", where=("data", key))
        return
    try:
        value = jsontext.parse(base64.b64decode(data[key] or ""))
    except jsontext.JSONError as error:
        yield field.invalid(f"data[{key}]", REDACTED, error.message, ("data", key))
        return
    if value is not None and not isinstance(value, dict):
        text = f"json: cannot unmarshal {described(value)} into Go value of type map[string]interface {{}}"
        yield field.invalid(f"data[{key}]", REDACTED, text, ("data", key))


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateSecretUpdate"""
    yield from plain.updating(obj, old, ctx)
    if obj["type"] != old.get("type"):
        yield field.invalid("type", obj["type"], "field is immutable", show=go.to_json(obj["type"]))
    yield from config_map.unchanged(obj, old, "data")
    yield from rules(obj, ctx, list(meta.labels_and_owners(obj["metadata"], ctx)))


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    """A key pair that holds none. What else may be wrong with it is not looked at.

    Upstream: warningsForSecret, tls.X509KeyPair
    """
    if obj["type"] != TLS:
        return
    data = obj.get("data") or {}
    certificate, key = (base64.b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    if PEM not in certificate:
        yield "tls: failed to find any PEM data in certificate input"
    elif PEM not in key:
        yield "tls: failed to find any PEM data in key input"


STRATEGY = Strategy(
    default=default,
    create=Create(plain.as_sent, rules, create_warnings),
    updates={"": Update(plain.keep_metadata, update_rules, plain.as_on_create(create_warnings))},
    delete=deletion.background,
)
