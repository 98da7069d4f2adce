"""Certificate reconciler: replicas mirror the shared Secret to files; the leader renews the Secret and what is published.

Every round is whole in itself: it reads, decides, writes with the resourceVersion that it read, and gives up at the first sign
that another replica was faster. So it does not matter where one is killed, nor that two may lead for a moment: a bundle is only
ever published from the Secret, and a Secret is only ever replaced by the replica that read its latest version.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from podstrat.certs import files, inspect, rotation
from podstrat.certs.cluster import ClusterError, Conflict, Object
from podstrat.certs.election import Election
from podstrat.certs.issuing import Pair
from podstrat.certs.rotation import Policy, State
from podstrat.certs.secret import Broken, Configurations, SharedSecret, bundles, decoded

CERTIFICATE, KEY, BUNDLE, PUBLISHED = "tls.crt", "tls.key", "ca.crt", "published.json"

RECHECK_SECONDS = 1.0
"""How soon to look again at a bundle that does not vouch for our certificate: the leader may be repairing it."""

log = logging.getLogger("podstrat.certs")


class Keeper:
    """Of one replica."""

    def __init__(
        self,
        secret: SharedSecret,
        configurations: Configurations,
        election: Election,
        folder: Path,
        names: Sequence[str],
        policy: Policy,
        on_step: Callable[[rotation.Step], None] = lambda step: None,
    ) -> None:
        self._secret = secret
        self._configurations = configurations
        self.election = election
        self._folder = folder
        self._names = tuple(names)
        self._policy = policy
        self._on_step = on_step
        self.suspects = False
        """Whether the last round read a bundle that does not vouch for our certificate, and the one before it did not."""

    def round(self, now: datetime, clock: float) -> None:
        """One look at everything. ClusterError if the API server does not answer: the files stay as they are."""
        leading = self.election.lead(now, clock)
        configurations = self._configurations.read()
        # The Secret is read after the configurations: what is published is never older than what was published before.
        secret = self._secret.read()
        state = _state(secret)
        if leading:
            try:
                secret, state, configurations = self._led(secret, state, configurations, now)
            except Conflict as conflict:
                log.info("another replica was faster: %s", conflict)
                return
        if state is not None:
            self._write(state)
        self._note(configurations, now)

    def _led(
        self, secret: Object | None, state: State | None, configurations: dict[str, Object], now: datetime
    ) -> tuple[Object, State, dict[str, Object]]:
        """The leader's part: at most one step, and the bundle in every configuration."""
        if state is None:
            secret, state, configurations = self._begun(secret, configurations, now)
        assert secret is not None
        configurations = self._configurations.publish(configurations, state.bundle)
        due = rotation.due(state, self._names, now, self._policy, published=True)
        if due.step != "nothing":
            state = rotation.carried_out(due.step, state, self._names, now, self._policy)
            secret = self._secret.write(state, secret)
            log.info("%s: %s", due.step, due.reason)
            self._on_step(due.step)
            configurations = self._configurations.publish(configurations, state.bundle)
        return secret, state, configurations

    def _begun(
        self, secret: Object | None, configurations: dict[str, Object], now: datetime
    ) -> tuple[Object, State, dict[str, Object]]:
        """A first state; or, where the Secret was lost, one that what is in service and published goes on with."""
        trusted = self._trusted(configurations)
        state = rotation.recovered(self._leaf(), trusted, self._names, now, self._policy)
        if state.successor is None and trusted:
            # The new leaf is served as soon as it is in the Secret: clients must trust it before.
            configurations = self._configurations.publish(configurations, state.bundle)
        secret = self._secret.write(state, secret)
        log.info("the Secret was lost and is recovered" if trusted else "created a CA and a certificate in the Secret")
        return secret, state, configurations

    def _leaf(self) -> Pair | None:
        """The pair in this replica's files."""
        try:
            return Pair((self._folder / CERTIFICATE).read_bytes(), (self._folder / KEY).read_bytes())
        except OSError:
            return None

    def _trusted(self, configurations: dict[str, Object]) -> list[bytes]:
        """The certificates that are published, and those in this replica's bundle, each once."""
        every = [each for configuration in configurations.values() for each in bundles(configuration)]
        with contextlib.suppress(OSError):
            every.append((self._folder / BUNDLE).read_bytes())
        unique: dict[bytes, None] = {}
        for bundle in every:
            with contextlib.suppress(inspect.Unreadable):
                unique |= dict.fromkeys(inspect.blocks(bundle))
        return list(unique)

    def _write(self, state: State) -> None:
        """The replica's own files. The key comes first: until its certificate follows, the pair in service stays."""
        for name, content, mode in (
            (KEY, state.leaf.key, 0o600),
            (CERTIFICATE, state.leaf.certificate, 0o644),
            (BUNDLE, state.bundle, 0o644),
        ):
            _write_if_new(self._folder / name, content, mode)

    def _note(self, configurations: dict[str, Object], now: datetime) -> None:
        """What is published, for the processes of this replica to compare their certificate with."""
        every = sorted(
            {base64.b64encode(each).decode() for configuration in configurations.values() for each in bundles(configuration)}
        )
        leaf = self._leaf()
        if leaf is not None and not self.suspects and not _all_vouch(every, leaf.certificate, now):
            # A repair by the leader may be on its way: a healthy replica is not to leave its Service for that.
            self.suspects = (self._folder / PUBLISHED).exists()
            if self.suspects:
                return
        self.suspects = False
        _write_if_new(self._folder / PUBLISHED, json.dumps(every).encode(), 0o644)


def _state(secret: Object | None) -> State | None:
    """The state in the Secret; None if it is absent or has to be recreated."""
    try:
        return decoded((secret or {}).get("data") or {})
    except Broken as error:
        if not error.ours:
            raise ClusterError(f"the Secret is managed by another party and is left unchanged: {error}") from None
        log.error("the Secret is unusable and is recreated: %s", error)
        return None


def _all_vouch(every: Sequence[str], chain: bytes, now: datetime) -> bool:
    try:
        return all(inspect.vouches(base64.b64decode(each), chain, now) for each in every)
    except inspect.Unreadable:
        return False


def _write_if_new(path: Path, content: bytes, mode: int) -> None:
    try:
        if path.read_bytes() == content:
            return
    except OSError:
        pass
    files.write(path, content, mode)


def published(folder: Path, chain: bytes, now: datetime) -> str | None:
    """Why clients that trust what is published would not trust a certificate; None if they would.

    Published is what the configurations say; where it was not read, what stands beside the certificate.
    """
    try:
        every = [base64.b64decode(each) for each in json.loads((folder / PUBLISHED).read_bytes())]
    except FileNotFoundError:
        try:
            every = [(folder / BUNDLE).read_bytes()]
        except FileNotFoundError:
            return None
    except ValueError:
        return "what is published cannot be read"
    for bundle in every:
        try:
            trusted = inspect.vouches(bundle, chain, now)
        except inspect.Unreadable as error:
            return f"the published bundle cannot be read: {error}"
        if not trusted:
            return "the published bundle does not vouch for the served certificate"
    return None
