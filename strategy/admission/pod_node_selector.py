"""PodNodeSelector: the node selector of a namespace is added to its pods, and a whitelist bounds what they may select.

Upstream: the admission plugin PodNodeSelector
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.settings import Settings
from podstrat.strategy.context import Context
from podstrat.strategy.field import invalid
from podstrat.strategy.formats import validation

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
DEFAULT = "clusterDefaultNodeSelector"
CONFLICT = "pod node label selector conflicts with its namespace node label selector"
NOT_LISTED = "pod node label selector labels conflict with its namespace whitelist"


class Config(NamedTuple):
    """Selectors by namespace, and the one of namespaces that have none of their own."""

    whitelists: Mapping[str, str]
    default: str


def configure(settings: Settings, configuration: Any, ctx: Context) -> Config:
    given = (configuration or {}).get("podNodeSelectorPluginConfig") or {} if isinstance(configuration or {}, Mapping) else None
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise ValueError("PodNodeSelector: podNodeSelectorPluginConfig is not a map of selectors by namespace")
    return Config({name: text for name, text in given.items() if name != DEFAULT}, given.get(DEFAULT, ""))


def mutate(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: Plugin.Admit"""
    if request.operation != "CREATE" or request.subresource:
        return
    spec = request.object["spec"]
    own = spec.get("nodeSelector") or {}
    wanted = _of_namespace(request, config)
    if any(key in own and own[key] != value for key, value in wanted.items()):
        raise request.forbidden(CONFLICT)
    if wanted.keys() - own.keys():
        spec["nodeSelector"] = {**wanted, **own}
        yield "spec.nodeSelector"
    _check_whitelist(request, config)


def validate(request: Attributes, config: Config) -> Iterator[str]:
    """Upstream: Plugin.Validate"""
    if request.operation == "CREATE" and not request.subresource:
        _check_whitelist(request, config)
    yield from ()


def _check_whitelist(request: Attributes, config: Config) -> None:
    allowed = _parsed(config.whitelists.get(request.namespace, ""))
    selected = request.object["spec"].get("nodeSelector") or {}
    if allowed and any(allowed.get(key) != value for key, value in selected.items()):
        raise request.forbidden(NOT_LISTED)


def _of_namespace(request: Attributes, config: Config) -> dict[str, str]:
    """Upstream: getNodeSelectorMap"""
    namespace = request.namespace_object()
    if namespace is None:
        raise errors.NotFound("namespaces", request.namespace)
    annotations = (namespace.get("metadata") or {}).get("annotations") or {}
    return _parsed(annotations.get(ANNOTATION, config.default))


def _parsed(text: str) -> dict[str, str]:
    """Pairs with = and commas between them; anything else is a plain error.

    Upstream: labels.ConvertSelectorToLabelsMap
    """
    found: dict[str, str] = {}
    for part in text.split(",") if text else ():
        pair = part.split("=")
        if len(pair) != 2:
            raise errors.ServerError(f"invalid selector: [{' '.join(pair)}]")
        key, value = pair[0].strip(), pair[1].strip()
        if faults := validation.label_key(key):
            raise errors.ServerError(str(invalid("<nil>", key, "; ".join(faults))))
        if faults := validation.label_value(value):
            raise errors.ServerError(str(invalid(f"[{key}]", value, "; ".join(faults))))
        found[key] = value
    return found
