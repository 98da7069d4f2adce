"""The selectors of workloads: well formed, not empty, and matching the labels of the template."""

from __future__ import annotations

from collections.abc import Mapping

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors, Finds
from podstrat.strategy.rules import selectors, templates


def usable(spec: Pod, word: str, ctx: Context) -> Finds[bool]:
    """There is a selector, it is well formed, and it says something. Tells whether it can be used.

    The server says "deployment" of a replica set too.
    """
    selector = spec["selector"]
    if selector is None:
        yield field.required("spec.selector")
        return True
    faults = list(selectors.label_selector(selector, "spec.selector", ctx))
    yield from faults
    if is_empty(selector):
        yield about(spec, "spec", f"empty selector is invalid for {word}", ctx)
    return not faults


def selects_template(spec: Pod) -> Errors:
    """The selector matches the labels of the template. None matches nothing, an empty one everything."""
    labels: Mapping[str, str] | None = spec["template"]["metadata"].get("labels")
    selector = spec.get("selector")
    if selector is None or not matches(selector, labels or {}):
        yield templates.labels_selected(labels, "spec.template")


def matches(selector: Pod, labels: Mapping[str, str]) -> bool:
    """Upstream: LabelSelectorAsSelector, Selector.Matches"""
    pairs: Mapping[str, str] = selector.get("matchLabels") or {}
    if not pairs.items() <= labels.items():
        return False
    return all(_holds(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def _holds(requirement: Pod, labels: Mapping[str, str]) -> bool:
    key: str = requirement["key"]
    operator: str = requirement["operator"]
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    return (key in labels and labels[key] in (requirement.get("values") or ())) == (operator == "In")


def is_empty(selector: Pod) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def differ(spec: Pod, old: Pod) -> bool:
    """Whether two selectors mean something else. Without labels is as with none, without expressions too."""
    new, stored = spec.get("selector"), old.get("selector")
    if new is None or stored is None:
        return new is not stored
    return any((new.get(key) or None) != (stored.get(key) or None) for key in ("matchLabels", "matchExpressions"))


def about(spec: Pod, at: str, detail: str, ctx: Context) -> field.FieldError:
    """An error about the selector, whose value is shown whole."""
    selector = spec.get("selector")
    return field.invalid(f"{at}.selector", selector, detail, show=internal.text("LabelSelector", selector, ctx.version))


def text(selector: Pod | None) -> str:
    """A selector in one line, by key: ``app=w,tier in (a,b),!old``.

    Upstream: metav1.FormatLabelSelector, labels.Selector.String
    """
    requirements = [(key, f"{key}={value}") for key, value in ((selector or {}).get("matchLabels") or {}).items()]
    for each in (selector or {}).get("matchExpressions") or ():
        requirements.append((each["key"], _requirement_text(each)))
    return ",".join(line for _, line in sorted(requirements, key=lambda one: one[0]))


def _requirement_text(requirement: Pod) -> str:
    key, operator = requirement["key"], requirement["operator"]
    if operator == "Exists":
        return str(key)
    if operator == "DoesNotExist":
        return f"!{key}"
    values = ",".join(sorted(requirement.get("values") or ()))
    return f"{key} {'in' if operator == 'In' else 'notin'} ({values})"
