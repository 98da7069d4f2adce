"""Rules of spec.conversion: how objects get from one version to another."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from podstrat.strategy import field
from podstrat.strategy.crds import go_url, names
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

Object = dict[str, Any]

REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_DESIRED: Final = "; desired format: https://host[/path]"
_NOT_WEBHOOK: Final = "should not be set when strategy is not set to Webhook"


def rules(conversion: Object, check_bundle: bool) -> Errors:
    """Upstream: validateCustomResourceConversion"""
    at = "spec.conversion"
    strategy = conversion.get("strategy", "")
    webhook = conversion.get("webhook") or {}
    client, reviewed = webhook.get("clientConfig"), webhook.get("conversionReviewVersions")
    if not strategy:
        yield field.required(f"{at}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield field.not_supported(f"{at}.strategy", strategy, ("None", "Webhook"))
    if strategy == "Webhook":
        if client is None:
            yield field.required(f"{at}.webhookClientConfig", "required when strategy is set to Webhook")
        else:
            yield from _client(client, f"{at}.webhookClientConfig", check_bundle)
        yield from _review_versions(reviewed or [], f"{at}.conversionReviewVersions")
        return
    if client is not None:
        yield field.forbidden(f"{at}.webhookClientConfig", _NOT_WEBHOOK)
    if reviewed:
        yield field.forbidden(f"{at}.conversionReviewVersions", _NOT_WEBHOOK)


def _client(client: Object, at: str, check_bundle: bool) -> Errors:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield field.required(at, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(url, f"{at}.url")
    elif service is not None:
        yield from _service(service, f"{at}.service")
    if check_bundle and client.get("caBundle") and not _is_pem(client["caBundle"]):
        text = "unable to load root certificates: unable to parse bytes as PEM block"
        yield field.invalid(f"{at}.caBundle", client["caBundle"], text)


def _is_pem(text: str) -> bool:
    try:
        return b"-----BEGIN " in base64.b64decode(text, validate=True)
    except binascii.Error:
        return False


def _url(url: str, at: str) -> Errors:
    """Upstream: webhook.ValidateWebhookURL"""
    try:
        parts = go_url.parse(url)
    except go_url.BadUrl as error:
        yield field.required(at, f"url must be a valid URL: {error}{_DESIRED}")
        return
    if parts.scheme != "https":
        yield field.invalid(at, parts.scheme, f"'https' is the only allowed URL scheme{_DESIRED}")
    if not parts.host:
        yield field.invalid(at, parts.host, f"host must be specified{_DESIRED}")
    if parts.user is not None:
        yield field.invalid(at, parts.user, "user information is not permitted in the URL")
    if parts.fragment:
        yield field.invalid(at, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield field.invalid(at, parts.query, "query parameters are not permitted in the URL")


def _service(service: Object, at: str) -> Errors:
    """Upstream: webhook.ValidateWebhookService"""
    if not service["name"]:
        yield field.required(f"{at}.name")
    if not service["namespace"]:
        yield field.required(f"{at}.namespace")
    port = service.get("port")
    if port is not None and not 1 <= port <= 65535:
        yield field.invalid(f"{at}.port", port, f"port is not valid: {validation.BETWEEN_PORTS}")
    path = service.get("path")
    if path in (None, "", "/"):
        return
    if not path.startswith("/"):
        yield field.invalid(f"{at}.path", path, "must start with a '/'")
    steps = path[1:].split("/")
    for i, step in enumerate(steps):
        if step:
            for fault in validation.dns_subdomain(step):
                yield field.invalid(f"{at}.path", path, f"segment[{i}]: {fault}")
        elif i < len(steps) - 1 or len(steps) == 1:
            yield field.invalid(f"{at}.path", path, f"segment[{i}] may not be empty")


def _review_versions(versions: list[str], at: str) -> Errors:
    if not versions:
        yield field.required(at)
        return
    seen: set[str] = set()
    for i, version in enumerate(versions):
        if version in seen:
            yield field.invalid(f"{at}[{i}]", version, "duplicate version")
            continue
        seen.add(version)
        yield from validation.each(f"{at}[{i}]", version, names.faults(version))
    if not seen.intersection(REVIEW_VERSIONS):
        yield field.invalid(at, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}")
