"""Reads kube-apiserver's admission flags: which plugins run, and the file that configures them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from podstrat.strategy.admission import Settings
from podstrat.strategy.admission.authorization import ALWAYS_ALLOW
from podstrat.strategy.admission.plugins import enabled
from podstrat.strategy.context import Version

API_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1")
KIND = "AdmissionConfiguration"


class FlagError(ValueError):
    """An admission flag that cannot be used; the text names it and says why."""


def settings(
    release: Version,
    enable: Iterable[str],
    disable: Iterable[str],
    config_file: Path | None = None,
    not_ready_seconds: int = 300,
    unreachable_seconds: int = 300,
    authorization_mode: str = ALWAYS_ALLOW,
) -> Settings:
    """The settings that the flags stand for. Each of ``enable`` and ``disable`` may be a list with commas."""
    flags = Settings(
        _names(enable),
        _names(disable),
        {} if config_file is None else read(config_file),
        not_ready_seconds,
        unreachable_seconds,
        authorization_mode=authorization_mode,
    )
    try:
        enabled(release, flags.enable, flags.disable)
    except ValueError as error:
        raise FlagError(f"admission plugins: {error}") from None
    return flags


def _names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(name.strip() for text in texts for name in text.split(",") if name.strip())


def read(path: Path) -> dict[str, Any]:
    """The configuration of each plugin in an AdmissionConfiguration; where it names a file, the content of that.

    Upstream: ReadAdmissionConfiguration
    """
    document = _document(path)
    if not isinstance(document, dict) or document.get("kind") != KIND or document.get("apiVersion") not in API_VERSIONS:
        raise FlagError(f"{path}: not an {KIND} of {API_VERSIONS[0]}")
    files: dict[str, Any] = {}
    for number, plugin in enumerate(document.get("plugins") or ()):
        name = plugin.get("name") if isinstance(plugin, dict) else None
        if not isinstance(name, str) or not name:
            raise FlagError(f"{path}: plugins[{number}] has no name")
        if name in files:
            raise FlagError(f"{path}: plugins[{number}]: {name} is configured twice")
        configuration, file = plugin.get("configuration"), plugin.get("path")
        if file and configuration is None:
            configuration = _document(path.parent / str(file))
        files[name] = configuration
    return files


def _document(path: Path) -> Any:
    from podstrat import goyaml

    try:
        documents = [document.value for document in goyaml.documents(path.read_bytes(), str(path))]
    except OSError as error:
        raise FlagError(f"cannot read {path}: {error.strerror}") from None
    except goyaml.YamlError as error:
        raise FlagError(str(error)) from None
    return documents[0] if documents else None
