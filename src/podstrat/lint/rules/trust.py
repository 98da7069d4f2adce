"""TLS trust: caBundle and its expiry."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from urllib.parse import urlsplit

from podstrat.lint import values
from podstrat.lint.rule import ERROR, INFO, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Hook

SOON_DAYS = 30  # a month: authorities are often renewed by hand
# Annotations of controllers that inject the caBundle.
FILLED_IN_BY = (
    "cert-manager.io/inject-",
    "podstrat.dev/inject-",
    "service.beta.openshift.io/inject-",
    "service.alpha.openshift.io/inject-",
)


@rule(
    "no-ca-bundle",
    INFO,
    (42, 43),
    "no caBundle",
    "The server then believes the authorities of its own machine, which sign no certificates for names inside a cluster.",
    "An annotation for cert-manager's injector, a webhook that fills it in itself, or the caBundle of a long-lived authority.",
)
def no_ca_bundle(hook: Hook) -> Finds:
    if hook.service is None or _bundle(hook).strip():
        return
    if hook.scene.live:
        yield Problem(hook.at("clientConfig"), f"{hook.name} has no caBundle: it cannot be called", ERROR)
    elif not any(key.startswith(FILLED_IN_BY) for key in hook.configuration.annotations):
        yield Problem(hook.at("clientConfig"), f"The manifest does not say who fills in the caBundle of {hook.name}")


@rule(
    "ca-bundle-unusable",
    ERROR,
    (42, 43),
    "a caBundle without an authority that is valid now",
    "No certificate can be trusted by it: every call fails.",
    "The certificate of the authority that signs the webhook's, as PEM in base64; during a change of it the old and the new one.",
)
def ca_bundle_unusable(hook: Hook) -> Finds:
    text = values.text(hook.client.get("caBundle"))
    if not text or not _bundle(hook, otherwise=b"?").strip():
        return
    fault = _fault(_bundle(hook, otherwise=b"?"))
    if fault:
        yield Problem(hook.at("clientConfig", "caBundle"), fault)


@rule(
    "ca-bundle-ends-soon",
    WARNING,
    (42, 49),
    "an authority that ends within a month",
    "From that moment on every call fails, and with failurePolicy: Fail every write that matches.",
    "A new authority beside the old one in the caBundle, then a certificate from it, then the old one out; and an alert.",
)
def ca_bundle_ends_soon(hook: Hook) -> Finds:
    ends = _last_end(_bundle(hook))
    now = datetime.now(UTC)
    if ends is not None and now < ends and (ends - now).days < SOON_DAYS:
        yield Problem(hook.at("clientConfig", "caBundle"), f"The last authority of {hook.name} ends in {(ends - now).days} days")


def _bundle(hook: Hook, otherwise: bytes = b"") -> bytes:
    """The PEM; ``otherwise`` for what is no base64."""
    try:
        return base64.b64decode(values.text(hook.client.get("caBundle")), validate=True)
    except (binascii.Error, ValueError):
        return otherwise


def _fault(bundle: bytes) -> str | None:
    if bundle == b"?":
        return "The caBundle is not base64"
    try:
        ends = _last_end(bundle)
    except ModuleNotFoundError:
        return None
    if ends is None:
        return "There is no certificate in the caBundle that can be read"
    return f"The caBundle ended at {ends:%Y-%m-%d %H:%M} UTC" if ends <= datetime.now(UTC) else None


def _last_end(bundle: bytes) -> datetime | None:
    """When the last certificate of a bundle ends; None if there is none."""
    if not bundle.strip():
        return None
    try:
        from podstrat.certs import inspect
    except ModuleNotFoundError:
        # Without the package that reads certificates nothing is said about them.
        return None
    try:
        return max(each.not_valid_after_utc for each in inspect.certificates(bundle))
    except (inspect.Unreadable, ValueError):
        return None


@rule(
    "not-a-service",
    WARNING,
    (8,),
    "a url instead of a service",
    "Nothing balances the calls over several replicas, and the address has to be resolved from the control plane.",
    "A Service in front of the replicas, and clientConfig.service.",
)
def not_a_service(hook: Hook) -> Finds:
    host = urlsplit(values.text(hook.client.get("url"))).hostname
    if host in ("localhost", "127.0.0.1", "::1"):
        yield Problem(hook.at("clientConfig", "url"), f"{hook.name} is looked for on the API server's own machine")
    elif host:
        yield Problem(hook.at("clientConfig", "url"), f"{hook.name} is called at {host}")


HOOKS: tuple[Rule, ...] = (no_ca_bundle, ca_bundle_unusable, ca_bundle_ends_soon, not_a_service)
