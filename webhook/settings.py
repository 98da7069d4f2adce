"""Settings of the webhook: defaults, descriptions, and the sources of values.

Flags override the environment, which overrides the file. One name serves all three: ``server_version`` in the
file is ``PODSTRAT_WEBHOOK__SERVER_VERSION`` in the environment and ``--server-version`` on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from podstrat.strategy.gates import history
from podstrat.strategy.review import policy
from podstrat.strategy.rules import stricter

# Two underscores: a Service called podstrat-webhook puts PODSTRAT_WEBHOOK_PORT=tcp://... into every pod of its namespace.
PREFIX = "PODSTRAT_WEBHOOK__"
FILE_VARIABLE = PREFIX + "CONFIG"
UNIQUE_NAMES = "unique-names"
AUTO = "auto"
PLAIN = "plain"
"""The version of a server without a pod strategy: it stores pods unchanged."""

State = Literal["on", "off", "auto"]
GatedAction = Literal["drop", "refuse", "warn"]


class SettingsError(Exception):
    """A setting is invalid; the message says which one, and its source."""


def _listed(value: Any) -> Any:
    """``a,b`` as a list: flags and environment variables are strings."""
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",") if part.strip()]


def _mapped(value: Any) -> Any:
    """``A=x,B=y`` as a map."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in _listed(value)]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError("expected A=x,B=y")
    return {name.strip(): text.strip() for name, _, text in pairs}


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Gates = Annotated[dict[str, bool], BeforeValidator(_mapped)]
Actions = Annotated[dict[str, GatedAction], BeforeValidator(_mapped)]


class Settings(BaseModel):
    """The settings of one webhook process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # ---- listen -----------------------------------------------------------------------------------------
    host: str = Field("0.0.0.0", description="address of the TLS port")
    port: int = Field(9443, ge=0, le=65535, description="TLS port for the API server; 0: any free port")
    metrics_host: str = Field("0.0.0.0", description="address of the admin port")
    metrics_port: int = Field(
        8080, ge=0, le=65535, description="admin port (plain HTTP) for /metrics and the probes; 0: any free port"
    )
    ready_file: Path | None = Field(None, description="file to write with both URLs once the webhook is serving")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="info logs each denial, debug each review"
    )

    # ---- limits -----------------------------------------------------------------------------------------
    workers: int = Field(2, ge=1, description="worker processes; a second one keeps serving when the first dies")
    threads: int = Field(32, ge=2, description="threads of a worker process")
    concurrency: int = Field(4, ge=1, description="concurrent reviews of a worker process")
    waiting: int = Field(16, ge=0, description="reviews that may be queued; further ones are rejected with 503")
    patience_seconds: float = Field(
        1.0, gt=0, description="longest time in the queue; never more than half of the API server's timeout"
    )
    review_seconds: int = Field(
        30,
        ge=1,
        description="deadline of a review: a worker process with a longer one is replaced; API servers wait 30 s at most",
    )
    read_seconds: float = Field(10.0, gt=0, description="time limit for receiving a request")
    connections: int = Field(
        1000, ge=2, description="connections of a worker process; at the limit the longest idle one is closed"
    )
    handshakes: int = Field(200, ge=1, description="concurrent TLS handshakes of a worker process")
    handshake_seconds: float = Field(3.0, gt=0, description="time limit of a TLS handshake")
    drain_seconds: float = Field(5.0, ge=0, description="after SIGTERM: not ready but still serving, while endpoints are updated")
    grace_seconds: float = Field(10.0, gt=0, description="after draining: time limit for requests in flight")

    # ---- certificates -----------------------------------------------------------------------------------
    certificates: Literal["files", "secret"] = Field(
        "files", description="files: renewed externally (cert-manager); secret: renewed by the replicas in a shared Secret"
    )
    cert_dir: Path = Field(
        Path("/run/podstrat/tls"), description="directory of tls.crt, tls.key and ca.crt; with secret they are written there"
    )
    namespace: str = Field("podstrat-system", description="namespace of the Secret, the Lease and the Service")
    service: str = Field("podstrat-webhook", description="Service that the API server calls; its names are in the certificate")
    extra_names: Names = Field((), description="additional DNS names and IP addresses for the certificate")
    secret: str = Field("podstrat-webhook-tls", description="Secret with the CA and the certificate")
    lease: str = Field("podstrat-webhook", description="Lease for the election of the replica that renews certificates")
    mutating_configuration: str = Field(
        "podstrat-webhook", description="MutatingWebhookConfiguration to keep in sync; '' for none"
    )
    validating_configuration: str = Field(
        "podstrat-webhook", description="ValidatingWebhookConfiguration to keep in sync; '' for none"
    )
    kubeconfig: Path | None = Field(None, description="kubeconfig file (default: in-cluster configuration)")
    identity: str = Field("", description="holder identity in the Lease (default: host name and process id)")
    leaf_days: float = Field(90.0, gt=0, description="lifetime of the certificate; renewed when a third is left")
    authority_days: float = Field(730.0, gt=0, description="lifetime of the CA; rotated when a third is left")
    settle_seconds: float = Field(300.0, ge=0, description="how long a new CA is published before it signs")
    overlap_seconds: float = Field(86400.0, ge=0, description="how long the old CA stays published after that")
    keeper_seconds: float = Field(10.0, gt=0, description="interval of certificate reconciliation")
    lease_seconds: float = Field(30.0, gt=0, description="lease duration: another replica takes over after that")
    registration: Literal["manage", "report", "off"] = Field(
        "off", description="keep the entries of the two configurations as shipped, only report differences, or neither"
    )
    failure_policy: Literal["Ignore", "Fail"] = Field(
        "Ignore", description="failurePolicy of the entries for device health and the gate policy, if managed"
    )
    opt_in: bool = Field(
        False, description="entries select only namespaces with the label podstrat.dev/webhook=enabled, if managed"
    )
    client_ca: Path | None = Field(None, description="CA file for client certificates; if set, clients must present one")
    client_names: Names = Field((), description="common names allowed in client certificates; empty: any")

    # ---- behaviour --------------------------------------------------------------------------------------
    server_version: str = Field(
        AUTO, description="release of the API server: auto (ask it), a version like 1.37, or plain (it stores pods unchanged)"
    )
    version_seconds: float = Field(60.0, gt=0, description="how often the API server is asked for its release")
    generation: State = Field("auto", description="metadata.generation: 1 on create, incremented when the spec changes")
    backport: State = Field("auto", description="the generation in an annotation, for servers before 1.33")
    backport_annotation: str = Field("podstrat.dev/generation", description="annotation of the backport")
    observed_generation: State = Field("auto", description="preserve observedGeneration when a status update clears it")
    gated_fields: State = Field("auto", description="policy for fields whose feature gate is off")
    feature_gates: Gates = Field(
        default_factory=dict, description="feature gates of that policy, overriding the release's defaults: A=false"
    )
    gated_action: GatedAction = Field("warn", description="drop such fields, refuse the pod, or warn")
    gated_actions: Actions = Field(default_factory=dict, description="the action for single gates: ImageVolume=refuse")
    health: State = Field("auto", description="validate allocatedResourcesStatus in status updates")
    strict_rules: Names = Field(
        (UNIQUE_NAMES, *stricter.RULES),
        description="rules stricter than the API server's: " + ", ".join((UNIQUE_NAMES, *stricter.RULES)),
    )
    node_restriction: State = Field("auto", description="device health may be written only by the pod's own node")
    health_writers: Names = Field(("group:system:masters",), description="other users that may write it: user:NAME, group:NAME")
    confirm: Literal["off", "warn", "deny"] = Field(
        "warn", description="what /validate does when another webhook has undone our change"
    )
    preflight: State = Field("off", description="evaluate pods by the rules of another release")
    preflight_version: str = Field("1.37", description="release for preflight")
    preflight_gates: Gates = Field(
        default_factory=dict, description="feature gates for preflight, overriding that release's defaults"
    )
    preflight_action: Literal["warn", "deny"] = Field(
        "warn", description="warn about pods that the release would reject, or deny them"
    )
    preflight_phase: Literal["mutate", "validate"] = Field(
        "validate", description="mutate: before the server drops fields; validate: the pod as it would be stored"
    )

    @field_validator("server_version")
    @classmethod
    def _check_version(cls, text: str) -> str:
        if text not in (AUTO, PLAIN):
            release(text)
        return text

    @field_validator("strict_rules")
    @classmethod
    def _are_rules(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        rules = (UNIQUE_NAMES, *stricter.RULES)
        for name in names:
            if name not in rules:
                raise ValueError(f"there is no rule {name!r}; there are {', '.join(rules)}")
        return names

    @field_validator("health_writers")
    @classmethod
    def _are_writers(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not name.startswith(("user:", "group:")):
                raise ValueError(f"{name!r}: expected user:NAME or group:NAME")
        return names

    @model_validator(mode="after")
    def _check_consistency(self) -> Settings:
        rules = rules_version(self.server_version)
        for setting, gates in (("feature_gates", self.feature_gates), ("gated_actions", self.gated_actions)):
            for gate in gates:
                if gate not in policy.guarding(rules):
                    choice = ", ".join(policy.guarding(rules))
                    raise ValueError(f"{setting}: {gate} is not a feature gate of pod fields in {rules}; known: {choice}")
        history.enabled(history.parse_version(self.preflight_version), self.preflight_gates)
        if self.threads < self.concurrency + self.waiting:
            raise ValueError(
                "threads: must be at least concurrency + waiting, or requests above the limit are not rejected at once"
            )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The DNS names of the Service, for the certificate."""
        short = f"{self.service}.{self.namespace}"
        return (f"{short}.svc", short, f"{short}.svc.cluster.local", *self.extra_names)


def release(text: str) -> tuple[int, int]:
    """``1.30`` or ``v1.30.2`` as (1, 30); also releases that the engine does not know."""
    parts = text.removeprefix("v").split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        raise ValueError(f"{text!r} is not a Kubernetes version: expected the form 1.37, {AUTO!r} or {PLAIN!r}")
    return int(parts[0]), int(parts[1])


def rules_version(server_version: str) -> str:
    """The engine release for a server: its own, or the nearest one that the engine knows."""
    if server_version in (AUTO, PLAIN):
        return history.RELEASES[-1]
    version = release(server_version)
    here = [release(each) for each in history.RELEASES]
    major, minor = max(min(here), min(max(here), version))
    return f"{major}.{minor}"


# ---- sources of values -----------------------------------------------------------------------------


class Loaded(BaseModel):
    """The settings, and the source of each."""

    model_config = ConfigDict(frozen=True)

    settings: Settings
    sources: dict[str, str]


def load(environ: Mapping[str, str], flags: Mapping[str, Any], file: Path | None = None) -> Loaded:
    """Loads the settings of a process. ``flags`` holds only flags that were set."""
    file = file or (Path(environ[FILE_VARIABLE]) if environ.get(FILE_VARIABLE) else None)
    values: dict[str, Any] = {}
    sources = dict.fromkeys(Settings.model_fields, "default")
    for source, settings in (
        (f"file {file}", {} if file is None else _read(file)),
        ("environment", {name: environ[_variable(name)] for name in Settings.model_fields if _variable(name) in environ}),
        ("flag", dict(flags)),
    ):
        values |= settings
        sources |= dict.fromkeys(settings, source)
    for name in environ:
        if name.startswith(PREFIX) and name != FILE_VARIABLE and name.removeprefix(PREFIX).lower() not in Settings.model_fields:
            raise SettingsError(f"{name}: unknown setting")
    try:
        return Loaded(settings=Settings(**values), sources=sources)
    except ValidationError as error:
        raise SettingsError("; ".join(_message(each, sources) for each in error.errors())) from None


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _message(error: Any, sources: Mapping[str, str]) -> str:
    where = ".".join(str(step) for step in error["loc"])
    name = str(error["loc"][0]) if error["loc"] else ""
    text = str(error["msg"]).removeprefix("Value error, ")
    return f"{where} ({sources.get(name, 'file')}): {text}" if where else text


def _read(file: Path) -> dict[str, Any]:
    from podstrat import goyaml

    try:
        documents = [document.value for document in goyaml.documents(file.read_bytes(), str(file))]
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from None
    except goyaml.YamlError as error:
        raise SettingsError(f"{file}: {error}") from None
    if not documents:
        return {}
    if len(documents) > 1 or not isinstance(documents[0], dict):
        raise SettingsError(f"{file}: must be a single map of settings")
    return documents[0]


def show(loaded: Loaded) -> str:
    """The effective settings as a file that `load` reads, each with its source and description."""
    lines = []
    for name, field in Settings.model_fields.items():
        value = loaded.settings.model_dump(mode="json")[name]
        lines.append(f"# {field.description}")
        if value is None:
            lines.append(f"# {name}:  # not set")
        else:
            lines.append(f"{name}: {json.dumps(value)}  # {loaded.sources[name]}")
    return "\n".join(lines) + "\n"
