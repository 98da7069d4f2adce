"""Rules of admission policies and their bindings, validating and mutating."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podstrat import cel
from podstrat.cel.types import DYN
from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors, Finds
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import expressions, selectors

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
NOT_FOUND_ACTIONS = ("Deny", "Allow")
CONDITIONS_LIMIT = 64  # matchConditions, as the API reference says
NOT_SPECIFIED = "expression is not specified"
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)
_RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
     "package", "namespace", "return", "var", "void", "while")
)  # fmt: skip
_LOWER_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
DNS_1035 = validation.pattern_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "my-name",
    "abc-123",
)


def expression(text: str, use: expressions.Use, params: bool, at: str, variables: expressions.Variables = ()) -> Errors:
    """An expression compiles and evaluates to what it should."""
    try:
        expressions.compiled(text, use, params, variables)
    except cel.CompileError as error:
        yield field.invalid(at, text, str(error))
    except cel.MissingLibrary as error:
        yield field.internal(at, str(error))


def trimmed(text: str) -> str:
    return text.strip("\t\n\v\f\r \x85\xa0")


def common(spec: Pod, ctx: Context) -> Errors:
    """What validating and mutating policies share, up to their conditions.

    Upstream: validateValidatingAdmissionPolicySpec
    """
    policy = spec["failurePolicy"]  # defaulted, like the policy and the selectors of constraints
    if policy not in FAILURE_POLICIES:
        yield field.not_supported("spec.failurePolicy", policy, FAILURE_POLICIES)
    if spec.get("paramKind") is not None:
        yield from param_kind(spec["paramKind"], "spec.paramKind")
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield field.required("spec.matchConstraints")
    else:
        yield from match_resources(constraints, "spec.matchConstraints", ctx)
        if not constraints.get("resourceRules"):
            yield field.required("spec.matchConstraints.resourceRules")


def match_conditions(conditions: Sequence[Pod], params: bool, at: str) -> Errors:
    """Upstream: validateMatchConditions"""
    if len(conditions) > CONDITIONS_LIMIT:
        yield field.too_many(at, len(conditions), CONDITIONS_LIMIT)
    seen: set[str] = set()
    for i, condition in enumerate(conditions):
        text, name = trimmed(condition.get("expression", "")), condition.get("name", "")
        if not text:
            yield field.required(f"{at}[{i}].expression")
        else:
            yield from expression(text, expressions.CONDITION, params, f"{at}[{i}].expression")
        if not name:
            yield field.required(f"{at}[{i}].name")
            continue
        yield from validation.each(f"{at}[{i}].name", name, validation.label_key(name))
        if name in seen:
            yield field.duplicate(f"{at}[{i}].name", name)
        seen.add(name)


def variables(rows: Sequence[Pod], params: bool, at: str) -> Finds[expressions.Variables]:
    """Names are identifiers, expressions compile with the variables before them. Returns all of them with their types.

    Upstream: validateVariable
    """
    for i, variable in enumerate(rows):
        name, text = variable.get("name", ""), variable.get("expression", "")
        if not trimmed(name):
            yield field.required(f"{at}[{i}].name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            yield field.invalid(f"{at}[{i}].name", name, "name is not a valid CEL identifier")
        if not trimmed(text):
            yield field.required(f"{at}[{i}].expression", NOT_SPECIFIED)
        else:
            before = types_of(rows[:i], params)
            yield from expression(text, expressions.VARIABLE, params, f"{at}[{i}].expression", before)
    return types_of(rows, params)


def types_of(rows: Sequence[Pod], params: bool) -> expressions.Variables:
    """The variables with the types of their expressions; dyn where one does not compile. The last of one name counts."""
    types: dict[str, cel.Type] = {}
    for variable in rows:
        try:
            text = variable.get("expression", "")
            types[variable.get("name", "")] = expressions.compiled(text, expressions.VARIABLE, params, tuple(types.items())).type
        except (cel.CompileError, cel.MissingLibrary):
            types[variable.get("name", "")] = DYN
    return tuple(types.items())


def param_kind(kind: Pod, at: str) -> Errors:
    """Upstream: validateParamKind"""
    api_version, name = kind.get("apiVersion", ""), kind.get("kind", "")
    if not api_version:
        yield field.required(f"{at}.apiVersion")
    elif api_version.count("/") > 1:
        yield field.invalid(f"{at}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}")
    else:
        group, _, version = api_version.rpartition("/")
        if group and (faults := validation.dns_subdomain(group)):
            yield field.invalid(f"{at}.apiVersion", group, ",".join(faults))
        if not version:
            yield field.invalid(f"{at}.apiVersion", api_version, "version must be specified")
        elif faults := tuple(_dns_1035(version)):
            yield field.invalid(f"{at}.apiVersion", version, ",".join(faults))
    if not name:
        yield field.required(f"{at}.kind")
    elif faults := tuple(_dns_1035(name.lower())):
        yield field.invalid(f"{at}.kind", name, f"may have mixed case, but should otherwise match: {','.join(faults)}")


def _dns_1035(text: str) -> Iterator[str]:
    if len(text) > 63:
        yield validation.no_longer_than(63)
    if not _LOWER_DNS_1035.fullmatch(text):
        yield DNS_1035


def match_resources(resources: Pod | None, at: str, ctx: Context) -> Errors:
    """Upstream: validateMatchResources"""
    if resources is None:
        return
    policy = resources["matchPolicy"]
    if policy not in MATCH_POLICIES:
        yield field.not_supported(f"{at}.matchPolicy", policy, MATCH_POLICIES)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selectors.label_selector(resources[name], f"{at}.{name}", ctx)
    for name in ("resourceRules", "excludeResourceRules"):
        for i, rule in enumerate(resources.get(name) or ()):
            yield from _named_rule(rule, f"{at}.{name}[{i}]")


def _named_rule(rule: Pod, at: str) -> Errors:
    """Upstream: validateNamedRuleWithOperations, validateRuleWithOperations, validateRule"""
    seen: set[str] = set()
    for i, name in enumerate(rule.get("resourceNames") or ()):
        yield from validation.each(f"{at}.resourceNames[{i}]", name, tuple(_path_segment(name)))
        if name in seen:
            yield field.duplicate(f"{at}.resourceNames[{i}]", name)
        seen.add(name)
    operations = rule.get("operations") or []
    yield from _wild(operations, f"{at}.operations", "operations")
    for i, operation in enumerate(operations):
        if operation not in OPERATIONS:
            yield field.not_supported(f"{at}.operations[{i}]", operation, OPERATIONS)
    yield from _wild(rule.get("apiGroups") or [], f"{at}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _wild(versions, f"{at}.apiVersions", "API versions")
    for i, version in enumerate(versions):
        if not version:
            yield field.required(f"{at}.apiVersions[{i}]")
    yield from _resources(rule.get("resources") or [], f"{at}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in SCOPES:
        yield field.not_supported(f"{at}.scope", scope, SCOPES)


def _wild(values: list[str], at: str, what: str) -> Errors:
    """At least one; an asterisk stands alone."""
    if not values:
        yield field.required(at)
    if len(values) > 1 and "*" in values:
        yield field.invalid(at, values, f"if '*' is present, must not specify other {what}", show=go.to_json(values))


def _resources(resources: list[str], at: str) -> Errors:
    """Upstream: validateResources"""
    if not resources:
        yield field.required(at)
    all_parts: set[str] = set()
    parts_of_all: set[str] = set()
    for i, each in enumerate(resources):
        if not each:
            yield field.required(f"{at}[{i}]")
            continue
        resource, slash, part = each.partition("/")
        if not slash:
            continue
        if resource in all_parts:
            yield field.invalid(f"{at}[{i}]", each, f"if '{resource}/*' is present, must not specify {each}")
        if part in parts_of_all:
            yield field.invalid(f"{at}[{i}]", each, f"if '*/{part}' is present, must not specify {each}")
        if part == "*":
            all_parts.add(resource)
        if resource == "*":
            parts_of_all.add(part)
    json_text = go.to_json(resources)
    if len(resources) > 1 and "*/*" in resources:
        yield field.invalid(at, resources, "if '*/*' is present, must not specify other resources", show=json_text)
    if "*" in resources and any(each and each != "*" and "/" not in each for each in resources):
        text = "if '*' is present, must not specify other resources without subresources"
        yield field.invalid(at, resources, text, show=json_text)


def binding(spec: Pod, ctx: Context) -> Errors:
    """What bindings of both kinds have.

    Upstream: validateValidatingAdmissionPolicyBindingSpec
    """
    name = spec.get("policyName", "")
    if not name:
        yield field.required("spec.policyName")
    else:
        yield from validation.each("spec.policyName", name, validation.dns_subdomain(name))
    yield from _param_ref(spec.get("paramRef"), "spec.paramRef", ctx)
    # The server's own spelling.
    yield from match_resources(spec.get("matchResources"), "spec.matchResouces", ctx)


def _param_ref(ref: Pod | None, at: str, ctx: Context) -> Errors:
    """Upstream: validateParamRef"""
    if ref is None:
        return
    name, selector = ref.get("name", ""), ref.get("selector")
    if name:
        yield from validation.each(f"{at}.name", name, tuple(_path_segment(name)))
        if selector is not None:
            yield field.forbidden(f"{at}.name", "name and selector are mutually exclusive")
    if selector is not None:
        yield from selectors.label_selector(selector, f"{at}.selector", ctx)
        if name:
            yield field.forbidden(f"{at}.selector", "name and selector are mutually exclusive")
    if not name and selector is None:
        yield field.required(at, "one of name or selector must be specified")
    action = ref.get("parameterNotFoundAction")
    if not action:
        yield field.required(f"{at}.parameterNotFoundAction")
    elif action not in NOT_FOUND_ACTIONS:
        yield field.not_supported(f"{at}.parameterNotFoundAction", action, NOT_FOUND_ACTIONS)


def _path_segment(name: str) -> Iterator[str]:
    """Upstream: IsValidPathSegmentName"""
    if name in (".", ".."):
        yield f"may not be '{name}'"
        return
    for part in ("/", "%"):
        if part in name:
            yield f"may not contain '{part}'"
