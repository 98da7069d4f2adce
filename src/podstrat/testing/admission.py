"""A pod on its way through webhooks and the server, without a server: for the tests of people who write webhooks.

    admitted = admit(pod, ["https://127.0.0.1:9443/mutate"], ca=pem)
    assert admitted.ok, admitted

docs/webhook-testing.md shows more.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podstrat import patches
from podstrat.apiserver import negotiation
from podstrat.apiserver.admission.attributes import Subject
from podstrat.apiserver.admission.chain import Chain, WebhookCall
from podstrat.apiserver.admission.configurations import MUTATING, REGISTRATION, VALIDATING
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.auth import AUTHENTICATED, User
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.kinds import NAMESPACE, POD
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.engine import Engine

Object = dict[str, Any]
Pem = str | bytes | Path

RULES = [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods", "pods/*"]}]
DEFAULTS: Object = {"rules": RULES, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
ADMINS = ("system:masters",)


@dataclass(frozen=True)
class Admitted:
    """What came of it."""

    code: int
    """The HTTP status of the answer."""
    body: Object
    """The pod as it is stored, or the Status that says why it is not."""
    warnings: tuple[str, ...]
    calls: tuple[WebhookCall, ...]
    """Every call of a webhook: its ``request``, ``answer`` and ``patch``, whether it ``changed`` the pod, its ``error``."""
    annotations: Mapping[str, str]
    """What the server would write into its audit log."""
    sent: Object = field(default_factory=dict)
    """The pod as it was sent."""

    @property
    def ok(self) -> bool:
        return self.code < 300

    @property
    def pod(self) -> Object | None:
        """The pod as it is stored; None if it is refused."""
        return self.body if self.ok else None

    @property
    def message(self) -> str:
        """Why it is refused."""
        return "" if self.ok else str(self.body.get("message", ""))

    @property
    def patches(self) -> dict[str, list[Any]]:
        """The operations that each webhook wanted, of both rounds."""
        patches: dict[str, list[Any]] = {}
        for call in self.calls:
            patches.setdefault(call.webhook, []).extend(call.patch)
        return patches

    @property
    def changes(self) -> list[Any]:
        """The JSON patch from the pod as it was sent to the pod as it is stored: all that webhooks and the server did to it."""
        return [] if self.pod is None else patches.difference(self.sent, self.pod)

    def patched(self, webhook: str) -> Object:
        """The pod as a webhook left it: its patch, applied to the pod that it was sent; the last call counts."""
        calls = [call for call in self.calls if call.webhook == webhook and call.sent]
        if not calls:
            raise LookupError(f"{webhook} was not called")
        result: Object = patches.applied(calls[-1].request["object"], calls[-1].patch)
        return result

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.code} {self.message or 'accepted'}"
        yield from (f"  warning: {text}" for text in self.warnings)
        for call in self.calls:
            again = ", once more" if call.round else ""
            yield f"  {call.webhook}{again} ({call.seconds * 1000:.0f} ms): {call.error or _decision(call)}"
            yield from (f"    {patches.shown(step)}" for step in call.patch)


def _decision(call: WebhookCall) -> str:
    response = (call.answer or {}).get("response") or {}
    if not response.get("allowed"):
        return "refuses" if response else "not asked"
    return "changes the pod" if call.changed else "allows it"


def admit(
    pod: Object,
    webhooks: Sequence[str | Object],
    *,
    old: Object | None = None,
    subresource: str = "",
    delete: bool = False,
    ca: Pem | None = None,
    user: str = "kubernetes-admin",
    groups: Sequence[str] = ADMINS,
    dry_run: bool = False,
    namespace_labels: Mapping[str, str] | None = None,
    resolve: Mapping[str, tuple[str, int]] | None = None,
    version: str = "1.37",
    gates: Mapping[str, bool] | None = None,
    pod_strategy: bool = True,
) -> Admitted:
    """Sends a pod through webhooks and the server of a release, and tells all that was said.

    A webhook is a URL; or an object with ``url``, and ``ca``, ``validating`` or any field of a v1 webhook; or a whole v1
    MutatingWebhookConfiguration or ValidatingWebhookConfiguration. They are called as the server calls them: those that mutate,
    in the order in which they are given, once more those of them that want it, and behind the server's own strategy those that
    validate. A URL alone mutates.

    With ``old`` it is an update, of the pod or of a ``subresource``; with ``delete`` the old pod is deleted. ``ca`` vouches
    for webhooks that bring none; ``resolve`` says where the services of configurations are.
    """
    engine = Engine(version, gates)
    admission = _Recorded(Store.open(None), engine.context.version, resolve=resolve)
    api = Api(admission.store, engine, pod_strategy=pod_strategy, admission=admission)
    metadata = pod.get("metadata") or {}
    namespace = metadata.get("namespace", "default")
    _prepare(api, namespace, namespace_labels, old)
    api.load([_configuration(webhook, number, ca) for number, webhook in enumerate(webhooks, 1)])
    is_new = old is None and not delete
    name = "" if is_new else metadata.get("name", "")
    method = "DELETE" if delete else "POST" if is_new else "PUT"
    call = Call(
        method,
        Target(POD, namespace, name, subresource),
        {"dryRun": ["All"]} if dry_run else {},
        b"" if delete else json.dumps(pod).encode(),
        negotiation.JSON,
        user=User(user, (*groups, AUTHENTICATED)),
        user_agent="podstrat",
    )
    try:
        return _told(pod, api.handle(call), admission.last)
    finally:
        admission.close()


def _prepare(api: Api, namespace: str, labels: Mapping[str, str] | None, old: Object | None) -> None:
    metadata = {"name": namespace, "labels": {"kubernetes.io/metadata.name": namespace, **(labels or {})}}
    api.load([{"apiVersion": "v1", "kind": NAMESPACE.kind, "metadata": metadata}])
    if old is not None:
        api.load([{"apiVersion": "v1", "kind": "Pod", **old}])


class _Recorded(Admission):
    """Remembers whom it has asked."""

    last: Chain | None = None

    def chain(self, subject: Subject) -> Chain | None:
        self.last = super().chain(subject)
        return self.last


def _told(body: Object, reply: Reply, chain: Chain | None) -> Admitted:
    calls, annotations = ((), {}) if chain is None else (tuple(chain.calls), dict(chain.annotations))
    return Admitted(reply.code, reply.body or {}, reply.warnings, calls, annotations, body)


# ---- configurations --------------------------------------------------------------------------------


def _configuration(webhook: str | Object, number: int, ca: Pem | None) -> Object:
    client_config: Object = {"url": webhook} if isinstance(webhook, str) else dict(webhook)
    if "webhooks" in client_config:
        return {**client_config, "webhooks": [_with_bundle(each, ca) for each in client_config["webhooks"]]}
    kind = VALIDATING if client_config.pop("validating", False) else MUTATING
    client = {key: client_config.pop(key) for key in ("url", "service") if key in client_config} or client_config.pop(
        "clientConfig", {}
    )
    own = client_config.pop("ca", None)
    whole = {"name": f"webhook-{number}", **DEFAULTS, **client_config, "clientConfig": client}
    return {
        "apiVersion": f"{REGISTRATION}/v1",
        "kind": kind.kind,
        "metadata": {"name": f"webhook-{number:04}"},
        "webhooks": [_with_bundle(whole, own if own is not None else ca)],
    }


def _with_bundle(webhook: Object, ca: Pem | None) -> Object:
    client = webhook.get("clientConfig") or {}
    if ca is None or client.get("caBundle"):
        return webhook
    pem = ca.read_bytes() if isinstance(ca, Path) else ca.encode() if isinstance(ca, str) else ca
    return {**webhook, "clientConfig": {**client, "caBundle": base64.b64encode(pem).decode()}}


# ---- certificates ----------------------------------------------------------------------------------


class Tls(NamedTuple):
    """Files for a server that is to be called: its certificate, its key, and the authority that vouches for it."""

    certificate: Path
    key: Path
    ca: Path


def tls(folder: Path, *names: str) -> Tls:
    """A certificate for a webhook's server on this machine, also under other names: ``web.default.svc``."""
    from podstrat.certs import files
    from podstrat.certs.issuing import Authority

    now = datetime.now(UTC)
    authority = Authority.new("podstrat tests", now)
    leaf = authority.server(["127.0.0.1", "localhost", "::1", *names], now)
    paths = Tls(folder / "tls.crt", folder / "tls.key", folder / "ca.crt")
    for path, text in zip(paths, (leaf.certificate, leaf.key, authority.certificate), strict=True):
        files.write(path, text, 0o600)
    return paths
