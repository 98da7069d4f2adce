"""Validity: what the API server rejects, or would never call."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from podstrat.lint import values
from podstrat.lint.rule import ERROR, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Configuration, Hook

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = re.compile(rf"{_LABEL}(\.{_LABEL}){{2,}}")


@rule(
    "removed-api-version",
    ERROR,
    (),
    "admissionregistration.k8s.io/v1beta1",
    "No server since 1.22 has it.",
    "apiVersion: admissionregistration.k8s.io/v1; sideEffects and admissionReviewVersions must be said there.",
)
def removed_api_version(configuration: Configuration) -> Finds:
    if configuration.value.get("apiVersion") != "admissionregistration.k8s.io/v1":
        yield Problem(("apiVersion",), f"The configuration is written in {configuration.value.get('apiVersion')}")


@rule(
    "webhook-name",
    ERROR,
    (),
    "a name that is not fully qualified, or is there twice",
    "The server refuses it: metrics, logs and audit annotations tell webhooks apart by their names.",
    "A name with at least three parts, as mutate.pods.example.com, that no other webhook of the configuration has.",
)
def webhook_name(configuration: Configuration) -> Finds:
    names: set[str] = set()
    for hook in configuration.hooks:
        name = values.text(hook.value.get("name"))
        if not _QUALIFIED.fullmatch(name):
            yield Problem(hook.at("name"), f"{name!r} is not a fully qualified name")
        elif name in names:
            yield Problem(hook.at("name"), f"{name} is the name of another webhook of this configuration")
        names.add(name)


@rule(
    "client-config",
    ERROR,
    (),
    "no place to call, or two, or one that cannot be called",
    "The server calls a service or a url, over HTTPS, and nothing else.",
    "Either clientConfig.service with namespace and name, or clientConfig.url as https://HOST:PORT/PATH.",
)
def client_config(hook: Hook) -> Finds:
    client = hook.client
    service, url = client.get("service"), values.text(client.get("url"))
    if (service is None) == (not url):
        text = "both a service and a url" if url else "neither a service nor a url"
        yield Problem(hook.at("clientConfig"), f"{hook.name} has {text}")
    elif url:
        parts = urlsplit(url)
        if parts.scheme != "https":
            yield Problem(hook.at("clientConfig", "url"), f"{url} is not an https address")
        elif not parts.hostname or parts.username or parts.query or parts.fragment:
            yield Problem(hook.at("clientConfig", "url"), f"{url} has no host, or has a user, a query or a fragment")


@rule(
    "review-version",
    ERROR,
    (),
    "admissionReviewVersions without v1",
    "The server sends the first version of the list that it knows; a webhook without one is never called.",
    'admissionReviewVersions: ["v1"], and a webhook that answers in the version that it was asked in.',
)
def review_version(hook: Hook) -> Finds:
    versions = values.texts(hook.value.get("admissionReviewVersions"))
    if not versions:
        yield Problem(hook.at("admissionReviewVersions"), f"{hook.name} does not say which versions it takes")
    elif "v1beta1" in versions and "v1" not in versions:
        yield Problem(hook.at("admissionReviewVersions"), f"{hook.name} takes only v1beta1, which is deprecated", WARNING)
    elif "v1" not in versions:
        yield Problem(hook.at("admissionReviewVersions"), f"{hook.name} takes {', '.join(versions)}: none that a server knows")


@rule(
    "unreadable-condition",
    ERROR,
    (16,),
    "a match condition that is not CEL",
    "The server refuses the configuration, or, where it had accepted it, fails every request that the rules match.",
    "An expression that is a bool for every request: has(...) or .?field before what may be absent.",
)
def unreadable_condition(hook: Hook) -> Finds:
    for i, expression in enumerate(hook.conditions):
        fault = _fault(expression)
        if fault:
            yield Problem(hook.at("matchConditions", i, "expression"), f"It cannot be read: {fault}")


def _fault(expression: str) -> str | None:
    """The first thing that is wrong with an expression, in the server's words; None too if CEL is not installed."""
    from podstrat import cel
    from podstrat.strategy.rules import expressions

    text = expression.strip()
    if not text:
        return "it is empty"
    try:
        expressions.compiled(text, expressions.CONDITION, params=False)
    except cel.CompileError as error:
        first = str(error).partition("\n")[0]
        return re.sub(r"^compilation failed: ERROR: <input>:-?\d+:\d+: (Syntax error: )?", "", first)
    except cel.MissingLibrary:
        return None
    return None


HOOKS: tuple[Rule, ...] = (client_config, review_version, unreadable_condition)
CONFIGURATIONS: tuple[Rule, ...] = (removed_api_version, webhook_name)
