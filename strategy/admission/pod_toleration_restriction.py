"""PodTolerationRestriction: a namespace has default tolerations, and a whitelist of those that its pods may have.

Upstream: the admission plugin PodTolerationRestriction
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from podstrat.strategy import errors, qos
from podstrat.strategy.admission import tolerations
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.settings import Settings
from podstrat.strategy.admission.tolerations import Toleration
from podstrat.strategy.context import Context
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.decoding.walk import described

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
CONFLICT = "pod tolerations (possibly merged with namespace default tolerations) conflict with its"
FIELDS = {name.lower(): name for name in ("key", "operator", "value", "effect", "tolerationSeconds")}


class Config(NamedTuple):
    """What holds for namespaces that say nothing."""

    default: list[Toleration]
    whitelist: list[Toleration]


def configure(settings: Settings, configuration: Any, ctx: Context) -> Config:
    given = configuration or {}
    if not isinstance(given, Mapping):
        raise ValueError("PodTolerationRestriction: the configuration is not an object")
    lists = [given.get(name) or [] for name in ("default", "whitelist")]
    if not all(isinstance(each, list) and all(isinstance(item, Mapping) for item in each) for each in lists):
        raise ValueError("PodTolerationRestriction: default and whitelist are lists of tolerations")
    return Config(*lists)


def mutate(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: Plugin.Admit"""
    if request.subresource or request.operation == "DELETE":
        return
    spec = request.object["spec"]
    before = merged = spec.get("tolerations") or []
    if request.operation == "CREATE":
        defaults = _annotated(request, DEFAULTS)
        merged = tolerations.merge(before, config.default if defaults is None else defaults)
    if qos.of(request.object, request.ctx) != qos.BEST_EFFORT:
        merged = tolerations.merge(merged, [MEMORY_PRESSURE])
    if merged and merged != before:
        spec["tolerations"] = merged
        yield "spec.tolerations"
    _check_whitelist(request, config)


def validate(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: Plugin.Validate"""
    if not request.subresource and request.operation != "DELETE":
        _check_whitelist(request, config)
    yield from ()


def _check_whitelist(request: Attributes, config: Config) -> None:
    own = request.object["spec"].get("tolerations") or ()
    if not own:
        return
    whitelist, scope = _annotated(request, WHITELIST), "namespace"
    if whitelist is None:
        whitelist, scope = config.whitelist, "cluster"
    allowed = whitelist
    if allowed and not all(any(tolerations.covers(each, toleration) for each in allowed) for toleration in own):
        # A plain error of the server, not a refusal.
        raise errors.ServerError(f"{CONFLICT} {scope} whitelist")


def _annotated(request: Attributes, key: str) -> list[Toleration] | None:
    """The tolerations in an annotation of the namespace; None without it.

    Upstream: extractNSTolerations
    """
    namespace = request.namespace_object()
    if namespace is None:
        raise errors.NotFound("namespaces", request.namespace)
    text = ((namespace.get("metadata") or {}).get("annotations") or {}).get(key)
    if text is None:
        return None
    return _parsed(text) if text else []


def _parsed(text: str) -> list[Toleration]:
    """Upstream: json.Unmarshal into []v1.Toleration"""
    try:
        value = jsontext.parse(text.encode())
    except jsontext.JSONError as error:
        raise errors.ServerError(error.message) from None
    if value is None:
        return []
    if not isinstance(value, list):
        raise errors.ServerError(f"json: cannot unmarshal {described(value)} into Go value of type []v1.Toleration")
    return [_toleration(item) for item in value]


def _toleration(item: Any) -> Toleration:
    if item is None:
        return {}
    if not isinstance(item, dict):
        raise errors.ServerError(f"json: cannot unmarshal {described(item)} into Go value of type v1.Toleration")
    found: Toleration = {}
    for key, value in item.items():
        name = FIELDS.get(key.lower())
        if name is None or value is None:
            continue
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not (is_number if name == "tolerationSeconds" else isinstance(value, str)):
            go_type = {"operator": "v1.TolerationOperator", "effect": "v1.TaintEffect", "tolerationSeconds": "int64"}
            words = f"json: cannot unmarshal {described(value)} into Go struct field Toleration.{name}"
            raise errors.ServerError(f"{words} of type {go_type.get(name, 'string')}")
        found[name] = value
    return found
