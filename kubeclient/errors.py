"""Errors of the clients.

KubeClientError
  ConfigError      a kubeconfig or in-cluster configuration that cannot be used; the text names the file and the field
  Unavailable      no answer from the API server; also a ConnectionError
    PluginError    no credentials from the credential plugin
  StatusError      an answer of the API server that is an error
    Expired        410: the resourceVersion is too old, list again
"""

from __future__ import annotations

import errno
import os


class KubeClientError(Exception):
    """Whatever goes wrong between us and the API server."""


class ConfigError(KubeClientError, ValueError):
    """The configuration cannot be used. The text names the file, the field and the remedy."""


class Unavailable(KubeClientError, ConnectionError):
    """The API server cannot be reached, or does not answer in time. Another attempt may succeed."""


def unavailable(address: str, error: BaseException) -> Unavailable:
    """The error of a layer below, with the server's address and the reason alone."""
    if isinstance(error, TimeoutError):
        return Unavailable(f"{address} does not answer in time")
    return Unavailable(f"{address} cannot be reached: {_reason(error)}")


def _reason(error: BaseException) -> str:
    if verification := getattr(error, "verify_message", ""):
        return f"certificate verify failed: {verification}"
    # TLS errors and those of name servers have numbers of their own.
    if isinstance(error, OSError) and error.errno in errno.errorcode and not _is_tls(error):
        return os.strerror(error.errno or 0)
    return str(error) or type(error).__name__


def _is_tls(error: OSError) -> bool:
    return type(error).__module__ == "ssl"


class PluginError(Unavailable):
    """The credential plugin of the kubeconfig failed."""


class StatusError(KubeClientError):
    """The API server answered with an error."""

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        super().__init__(f"{code}: {message}" if message else str(code))
        self.code, self.message, self.reason = code, message, reason


class Expired(StatusError):
    """The server does not have events from that resourceVersion on any more (410): list again."""

    def __init__(self, message: str) -> None:
        super().__init__(410, message, "Expired")
