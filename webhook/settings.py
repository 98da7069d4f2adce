"""Every setting of the webhook, in one place: its default, what it means, and where its value comes from.

A flag wins over the environment, that over the file, that over the default. One name serves all three: ``server_version`` in the
file is ``PODSTRAT_WEBHOOK__SERVER_VERSION`` in the environment and ``--server-version`` on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from strategy import gates, policy
from strategy.rules import stricter

# Two underscores: a Service called podstrat-webhook puts PODSTRAT_WEBHOOK_PORT=tcp://... into every pod of its namespace.
PREFIX = "PODSTRAT_WEBHOOK__"
FILE_VARIABLE = PREFIX + "CONFIG"
UNIQUE_NAMES = "unique-names"
PLAIN = "plain"
"""The version of a server that stores pods as they are."""

State = Literal["on", "off", "auto"]
GatedAction = Literal["drop", "refuse", "warn"]


class SettingsError(Exception):
    """A setting is wrong; the text says which, and where it came from."""


def _listed(value: Any) -> Any:
    """``a,b`` as a list: flags and variables are texts."""
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",") if part.strip()]


def _mapped(value: Any) -> Any:
    """``A=x,B=y`` as a map."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in _listed(value)]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError("write it like A=x,B=y")
    return {name.strip(): text.strip() for name, _, text in pairs}


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Gates = Annotated[dict[str, bool], BeforeValidator(_mapped)]
Actions = Annotated[dict[str, GatedAction], BeforeValidator(_mapped)]


class Settings(BaseModel):
    """How one webhook runs, and what it does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # ---- where ------------------------------------------------------------------------------------------
    host: str = Field("0.0.0.0", description="address of the TLS port")
    port: int = Field(9443, ge=0, le=65535, description="TLS port for the API server; 0 takes a free one")
    metrics_host: str = Field("0.0.0.0", description="address of the plain port")
    metrics_port: int = Field(8080, ge=0, le=65535, description="plain port for /metrics and the probes; 0 takes a free one")
    ready_file: Path | None = Field(None, description="written with both addresses when the webhook answers")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="info has a line for each refusal, debug one for each review"
    )

    # ---- how much ---------------------------------------------------------------------------------------
    workers: int = Field(2, ge=1, description="processes; a second one goes on when the first dies")
    threads: int = Field(32, ge=2, description="connections that a process serves at a time")
    concurrency: int = Field(4, ge=1, description="reviews that a process works on at a time")
    waiting: int = Field(16, ge=0, description="reviews that wait for their turn; those above it are turned away with 503")
    patience_seconds: float = Field(
        1.0, gt=0, description="longest wait for a turn; never more than half of what the server waits"
    )
    read_seconds: float = Field(10.0, gt=0, description="longest pause of a client in the middle of a request or a handshake")
    drain_seconds: float = Field(5.0, ge=0, description="after SIGTERM: not ready, but serving, until no endpoint leads here")
    grace_seconds: float = Field(10.0, gt=0, description="after that: time for requests in flight")

    # ---- certificates -----------------------------------------------------------------------------------
    certificates: Literal["files", "secret"] = Field(
        "files", description="files: somebody else renews them (cert-manager); secret: the replicas do, in a shared Secret"
    )
    cert_dir: Path = Field(
        Path("/run/podstrat/tls"), description="folder of tls.crt, tls.key and ca.crt; with secret they are written there"
    )
    namespace: str = Field("podstrat-system", description="namespace of the Secret, the Lease and the Service")
    service: str = Field("podstrat-webhook", description="Service that the API server calls; the certificate has its names")
    extra_names: Names = Field((), description="further names and addresses for the certificate")
    secret: str = Field("podstrat-webhook-tls", description="Secret with the authority and the certificate")
    lease: str = Field("podstrat-webhook", description="Lease of the replica that renews")
    mutating_configuration: str = Field(
        "podstrat-webhook", description="MutatingWebhookConfiguration with our caBundle; '' for none"
    )
    validating_configuration: str = Field("podstrat-webhook", description="ValidatingWebhookConfiguration likewise")
    kubeconfig: Path | None = Field(None, description="how to reach the API server; without it as a pod does")
    identity: str = Field("", description="name of this replica in the Lease; without it that of the machine")
    leaf_days: float = Field(90.0, gt=0, description="life of the certificate; renewed when a third is left")
    authority_days: float = Field(730.0, gt=0, description="life of the authority; succeeded when a third is left")
    settle_seconds: float = Field(300.0, ge=0, description="how long a new authority is published before it signs")
    overlap_seconds: float = Field(86400.0, ge=0, description="how long the old authority stays published after that")
    keeper_seconds: float = Field(10.0, gt=0, description="how often Secret, Lease and configurations are looked at")
    lease_seconds: float = Field(30.0, gt=0, description="after what silence another replica takes over")
    client_ca: Path | None = Field(None, description="authority of the API server's client certificate; then one is required")
    client_names: Names = Field((), description="common names that such a certificate may have; none: any")

    # ---- what -------------------------------------------------------------------------------------------
    server_version: str = Field(
        "1.37", description="release of the API server, or 'plain' for one that stores pods as they are: what auto goes by"
    )
    generation: State = Field("on", description="metadata.generation: 1 on create, one more when the spec changes")
    backport: State = Field("auto", description="the same count in an annotation, for servers before 1.33")
    backport_annotation: str = Field("podstrat.dev/generation", description="that annotation")
    observed_generation: State = Field("on", description="observedGeneration is kept when a status write clears it")
    gated_fields: State = Field("on", description="fields whose gate is off are dropped, refused or warned about")
    feature_gates: Gates = Field(
        default_factory=dict, description="the cluster's policy, on top of the release's defaults: A=false"
    )
    gated_action: GatedAction = Field("warn", description="what happens to such a field: drop, refuse or warn")
    gated_actions: Actions = Field(default_factory=dict, description="the same for single gates: ImageVolume=refuse")
    health: State = Field("on", description="the rules of allocatedResourcesStatus on status writes")
    strict_rules: Names = Field(
        (UNIQUE_NAMES, *stricter.RULES), description="rules that no server has: " + ", ".join((UNIQUE_NAMES, *stricter.RULES))
    )
    node_restriction: State = Field("on", description="device health is written only by the pod's own node")
    health_writers: Names = Field(("group:system:masters",), description="who else may: user:NAME, group:NAME")
    confirm: Literal["off", "warn", "deny"] = Field(
        "warn", description="what to do when another webhook has undone our change: /validate says so"
    )
    preflight: State = Field("off", description="what another release would say to each pod")
    preflight_version: str = Field("1.37", description="that release")
    preflight_gates: Gates = Field(default_factory=dict, description="its gates, on top of its defaults")
    preflight_action: Literal["warn", "deny"] = Field(
        "warn", description="what would be refused there is warned about, or refused"
    )
    preflight_phase: Literal["mutate", "validate"] = Field(
        "validate", description="mutate sees what the server is about to drop, validate what will be stored"
    )

    @field_validator("server_version")
    @classmethod
    def _is_a_version(cls, text: str) -> str:
        if text != PLAIN:
            release(text)
        return text

    @field_validator("strict_rules")
    @classmethod
    def _are_rules(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = (UNIQUE_NAMES, *stricter.RULES)
        for name in names:
            if name not in known:
                raise ValueError(f"there is no rule {name!r}; there are {', '.join(known)}")
        return names

    @field_validator("health_writers")
    @classmethod
    def _are_writers(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not name.startswith(("user:", "group:")):
                raise ValueError(f"{name!r} is neither user:NAME nor group:NAME")
        return names

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        rules = rules_version(self.server_version)
        for setting, named in (("feature_gates", self.feature_gates), ("gated_actions", self.gated_actions)):
            for gate in named:
                if gate not in policy.guarding(rules):
                    choice = ", ".join(policy.guarding(rules))
                    raise ValueError(f"{setting}: {gate} guards no field of pods in {rules}; those that do: {choice}")
        gates.enabled(gates.parse_version(self.preflight_version), self.preflight_gates)
        if self.threads < self.concurrency + self.waiting:
            raise ValueError("threads: must be at least concurrency + waiting, or nobody is free to turn others away")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Under which names the API server calls: the certificate has them."""
        short = f"{self.service}.{self.namespace}"
        return (f"{short}.svc", short, f"{short}.svc.cluster.local", *self.extra_names)


def release(text: str) -> tuple[int, int]:
    """``1.30`` or ``v1.30.2`` as (1, 30); any release, also one whose rules are not here."""
    parts = text.removeprefix("v").split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        raise ValueError(f"{text!r} is not a version of Kubernetes: write it like 1.37, or {PLAIN!r}")
    return int(parts[0]), int(parts[1])


def rules_version(server_version: str) -> str:
    """The release whose rules serve a server: its own, or the nearest that is here."""
    if server_version == PLAIN:
        return gates.RELEASES[-1]
    wanted = release(server_version)
    here = [release(each) for each in gates.RELEASES]
    major, minor = max(min(here), min(max(here), wanted))
    return f"{major}.{minor}"


# ---- where values come from ------------------------------------------------------------------------


class Loaded(BaseModel):
    """The settings, and for each the place that it came from."""

    model_config = ConfigDict(frozen=True)

    settings: Settings
    sources: dict[str, str]


def load(environ: Mapping[str, str], flags: Mapping[str, Any], file: Path | None = None) -> Loaded:
    """The settings of a process. ``flags`` are those that were given."""
    file = file or (Path(environ[FILE_VARIABLE]) if environ.get(FILE_VARIABLE) else None)
    values: dict[str, Any] = {}
    sources = dict.fromkeys(Settings.model_fields, "default")
    for source, found in (
        (f"file {file}", {} if file is None else _read(file)),
        ("environment", {name: environ[_variable(name)] for name in Settings.model_fields if _variable(name) in environ}),
        ("flag", dict(flags)),
    ):
        values |= found
        sources |= dict.fromkeys(found, source)
    for name in environ:
        if name.startswith(PREFIX) and name != FILE_VARIABLE and name.removeprefix(PREFIX).lower() not in Settings.model_fields:
            raise SettingsError(f"{name}: there is no such setting")
    try:
        return Loaded(settings=Settings(**values), sources=sources)
    except ValidationError as error:
        raise SettingsError("; ".join(_told(each, sources) for each in error.errors())) from None


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _told(error: Any, sources: Mapping[str, str]) -> str:
    where = ".".join(str(step) for step in error["loc"])
    name = str(error["loc"][0]) if error["loc"] else ""
    text = str(error["msg"]).removeprefix("Value error, ")
    return f"{where} ({sources.get(name, 'file')}): {text}" if where else text


def _read(file: Path) -> dict[str, Any]:
    import goyaml

    try:
        found = [document.value for document in goyaml.documents(file.read_bytes(), str(file))]
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from None
    except goyaml.YamlError as error:
        raise SettingsError(f"{file}: {error}") from None
    if not found:
        return {}
    if len(found) > 1 or not isinstance(found[0], dict):
        raise SettingsError(f"{file}: must be one map of settings")
    return found[0]


def show(loaded: Loaded) -> str:
    """The settings in force as a file that `load` reads, each with where it comes from and what it means."""
    lines = []
    for name, field in Settings.model_fields.items():
        value = loaded.settings.model_dump(mode="json")[name]
        lines.append(f"# {field.description}")
        if value is None:
            lines.append(f"# {name}:  # not set")
        else:
            lines.append(f"{name}: {json.dumps(value)}  # {loaded.sources[name]}")
    return "\n".join(lines) + "\n"
