"""Label selectors, node selectors, and matchLabelKeys that the pod's own labels fill in."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import meta

NEEDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
NO_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
NEEDS_NUMBER = "must be specified single value when `operator` is 'Lt' or 'Gt'"
NEEDS_NODE = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
BAD_OPERATOR = "not a valid selector operator"
NO_TERMS = "must have at least one node selector term"
BAD_FIELD = "not a valid field selector key"
NEEDS_SELECTOR = "must not be specified when labelSelector is not set"
IN_SELECTOR = "exists in both matchLabelKeys and labelSelector"


def label_selector(selector: Pod | None, at: str, ctx: Context, any_value: bool = False) -> Errors:
    """matchLabels are labels; every requirement is well formed. No selector is all right here.

    ``any_value`` leaves the values of requirements unjudged, which an update does where the stored ones are already bad.
    Upstream: ValidateLabelSelector
    """
    if not selector:
        return
    if selector.get("matchLabels"):
        yield from meta.labels(selector["matchLabels"], ctx.name_unit, f"{at}.matchLabels")
    for i, requirement in enumerate(selector.get("matchExpressions") or ()):
        yield from _requirement(requirement, f"{at}.matchExpressions[{i}]", ctx.name_unit, any_value)


def nodes(selector: Pod, at: str, ctx: Context) -> Errors:
    """A node selector has terms, of which one must match.

    Upstream: ValidateNodeSelector
    """
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        yield field.required(f"{at}.nodeSelectorTerms", NO_TERMS)
    for i, term in enumerate(terms):
        yield from node_term(term, f"{at}.nodeSelectorTerms[{i}]", ctx, any_value=False)


def node_term(term: Pod, at: str, ctx: Context, any_value: bool) -> Errors:
    """What a node must be like: its labels, and its name.

    Upstream: ValidateNodeSelectorTerm
    """
    for i, requirement in enumerate(term.get("matchExpressions") or ()):
        yield from _requirement(requirement, f"{at}.matchExpressions[{i}]", ctx.name_unit, any_value, numbers=True)
    for i, requirement in enumerate(term.get("matchFields") or ()):
        yield from _node_field(requirement, f"{at}.matchFields[{i}]")


def _requirement(requirement: Pod, at: str, unit: str, any_value: bool, numbers: bool = False) -> Errors:
    """In and NotIn have values, Exists and DoesNotExist have none; keys and values are those of labels.

    ``numbers`` adds Lt and Gt, which have one value; whether it is a number is not looked at.
    Upstream: ValidateLabelSelectorRequirement, ValidateNodeSelectorRequirement
    """
    operator, key = requirement["operator"], requirement["key"]
    values = requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield field.required(f"{at}.values", NEEDS_VALUES)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield field.forbidden(f"{at}.values", NO_VALUES)
    elif numbers and operator in ("Lt", "Gt"):
        if len(values) != 1:
            yield field.required(f"{at}.values", NEEDS_NUMBER)
    else:
        yield _bad_operator(operator, at)
    if faults := validation.label_key(key, unit):
        yield from validation.each(f"{at}.key", key, faults)
    if any_value:
        return
    for i, value in enumerate(values):
        if faults := validation.label_value(value, unit):
            yield from validation.each(f"{at}.values[{i}]", value, faults)


def _node_field(requirement: Pod, at: str) -> Errors:
    """The only field of a node that can be asked for is its name, one at a time.

    Upstream: ValidateNodeFieldSelectorRequirement
    """
    operator, values = requirement["operator"], requirement.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield _bad_operator(operator, at)
    elif len(values) != 1:
        yield field.required(f"{at}.values", NEEDS_NODE)
    if requirement["key"] != "metadata.name":
        yield field.invalid(f"{at}.key", requirement["key"], BAD_FIELD)
        return
    for i, value in enumerate(values):
        if faults := validation.dns_subdomain(value):
            yield from validation.each(f"{at}.values[{i}]", value, faults)


def _bad_operator(operator: str, at: str) -> field.FieldError:
    return field.invalid(f"{at}.operator", operator, BAD_OPERATOR, show=go.to_json(operator))


# ---- keys whose values are those of the pod itself ---------------------------------------------------


def label_keys(keys: Sequence[str], selector: Pod | None, at: str, ctx: Context) -> Errors:
    """matchLabelKeys and mismatchLabelKeys are keys of labels that add to a selector, so there is one.

    Upstream: validateLabelKeys
    """
    if keys and selector is None:
        yield field.forbidden(at, NEEDS_SELECTOR)
        return
    for i, key in enumerate(keys):
        if faults := validation.label_key(key, ctx.name_unit):
            yield from validation.each(f"{at}[{i}]", key, faults)


def selected_already(keys: Sequence[str], selector: Pod | None, at: str) -> Errors:
    """No key of matchLabelKeys is in the selector as well.

    On create each key that the pod has a label for has been added to the selector, so one that occurs twice was there before.
    The server's path has the index of the key right behind the term; of a key that is repeated it is the last.
    Upstream: validateMatchLabelKeysAndMismatchLabelKeys
    """
    if not keys or selector is None:
        return
    places = {key: i for i, key in enumerate(keys)}
    seen = set(selector.get("matchLabels") or ())
    for requirement in selector.get("matchExpressions") or ():
        key = requirement["key"]
        if key in places and key in seen:
            place = field.place_of(f"{at}.matchLabelKeys[{places[key]}]")
            yield field.invalid(f"{at}[{places[key]}]", key, IN_SELECTOR, place)
        seen.add(key)
