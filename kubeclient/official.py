"""The kubernetes package as the transport, configured by kubeclient: for install and certs, which ask for that package.

Credentials, plugins, TLS, proxy and impersonation are those of the ClientConfig, so they act the same with every client.
The package is imported when the first client is made: it takes a quarter of a second.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Sequence
from typing import Any

from podstrat.kubeclient.answer import JSON, Answer, message_of
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import Unavailable, unavailable


class Client:
    """One API server, for one thread."""

    def __init__(self, config: ClientConfig, connect_seconds: float, read_seconds: float) -> None:
        from kubernetes.client import ApiClient, Configuration

        self.config = config
        self._timeouts = (connect_seconds, read_seconds)
        configuration = Configuration(host=f"{config.address}{config.prefix}")
        configuration.retries = False
        self._api = ApiClient(configuration)
        self._prepared_for: object = None

    def close(self) -> None:
        """Closes the kept connections."""
        self._api.rest_client.pool_manager.clear()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        query: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """One answer, whatever its code. After a 401 the request is sent again if there are newer credentials."""
        identity = self.config.credentials.current()
        answer = self._requested(identity, method, path, body, content_type, query)
        if answer.code == 401 and self.config.credentials.renewed(identity):
            answer = self._requested(self.config.credentials.current(), method, path, body, content_type, query)
        return answer

    def _requested(
        self, identity: Identity, method: str, path: str, body: Any, content_type: str, query: Sequence[tuple[str, str]]
    ) -> Answer:
        from urllib3 import HTTPHeaderDict

        self._prepare(identity)
        headers = {"Accept": JSON, "Content-Type": content_type}
        try:
            verb, url, plain, data, *_ = self._api.param_serialize(
                method, path, query_params=list(query), header_params=headers, body=body
            )
            # The package has one value for each header; several groups of an impersonated user are several headers.
            every = HTTPHeaderDict({name: value for name, value in plain.items() if name != "User-Agent"})
            for name, value in self.config.headers(identity):
                if name != "Proxy-Authorization":
                    every.add(name, value)
            with _unverified(self.config):
                response = self._api.call_api(verb, url, every, data, _request_timeout=self._timeouts)
                text: bytes = response.read()  # type: ignore[no-untyped-call]
        except Unavailable:
            raise
        except Exception as error:
            # Whatever the libraries below raise: there is no answer.
            raise unavailable(self.config.address, _innermost(error)) from None
        return Answer(response.status, message_of(response.headers.items()), text)

    def _prepare(self, identity: Identity) -> None:
        """Gives the package connections with our TLS context and proxy; again when a plugin has issued another certificate."""
        from urllib3 import PoolManager, ProxyManager

        context = self.config.tls(identity)
        if self._prepared_for is (context or self):
            return
        self._prepared_for = context or self
        options: dict[str, Any] = {"retries": False, "ssl_context": context}
        if self.config.server_name and context is not None:
            options["server_hostname"] = self.config.server_name
        proxy = self.config.proxy
        self.close()
        if proxy is None:
            self._api.rest_client.pool_manager = PoolManager(**options)
            return
        authorization = {"Proxy-Authorization": proxy.authorization} if proxy.authorization else None
        self._api.rest_client.pool_manager = ProxyManager(proxy.url, proxy_headers=authorization, **options)


def _innermost(error: BaseException) -> BaseException:
    """The innermost cause of what urllib3 raises: the outer ones say where, not why."""
    while True:
        reason = getattr(error, "reason", None)
        deeper = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
        if deeper is None:
            return error
        error = deeper


@contextlib.contextmanager
def _unverified(config: ClientConfig) -> Generator[None, None, None]:
    """Without urllib3's warning about servers that are not verified: insecure-skip-tls-verify asks for it."""
    from urllib3.exceptions import InsecureRequestWarning

    if config.verify:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureRequestWarning)
        yield
