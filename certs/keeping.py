"""Each replica keeps its files like the shared Secret; the one that leads keeps the Secret, and what is published, up to date.

Every round is whole in itself: it reads, decides, writes with the resourceVersion that it read, and gives up at the first sign
that another replica was faster. So it does not matter where one is killed, nor that two may lead for a moment: a bundle is only
ever published from the Secret, and a Secret is only ever replaced by whoever has read it last.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from certs import files, reading, rotation
from certs.cluster import ClusterError, Conflict, Object
from certs.lease import Election
from certs.rotation import Policy, State
from certs.secret import Broken, Configurations, SharedSecret, bundles, decoded

CERTIFICATE, KEY, BUNDLE, PUBLISHED = "tls.crt", "tls.key", "ca.crt", "published.json"

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
        done: Callable[[rotation.Step], None] = lambda step: None,
    ) -> None:
        self._secret = secret
        self._configurations = configurations
        self.election = election
        self._folder = folder
        self._names = tuple(names)
        self._policy = policy
        self._done = done

    def round(self, now: datetime, clock: float) -> None:
        """One look at everything. ClusterError if the API server does not answer: the files stay as they are."""
        leading = self.election.lead(now, clock)
        found = self._configurations.read()
        # The Secret is read after the configurations: what is published is never older than what was published before.
        kept = self._secret.read()
        state = _state(kept)
        if leading:
            try:
                kept, state, found = self._led(kept, state, found, now)
            except Conflict as conflict:
                log.info("another replica was faster: %s", conflict)
                return
        if state is not None:
            self._write(state)
        self._note(found)

    def _led(
        self, kept: Object | None, state: State | None, found: dict[str, Object], now: datetime
    ) -> tuple[Object, State, dict[str, Object]]:
        """The leader's part: at most one step, and the bundle in every configuration."""
        if state is None:
            state = rotation.begin(self._names, now, self._policy)
            kept = self._secret.write(state, kept)
            log.info("a first authority and a first leaf are in the Secret")
        assert kept is not None
        found = self._configurations.publish(found, state.bundle)
        due = rotation.due(state, self._names, now, self._policy, published=True)
        if due.step != "nothing":
            state = rotation.carried_out(due.step, state, self._names, now, self._policy)
            kept = self._secret.write(state, kept)
            log.info("%s: %s", due.step, due.reason)
            self._done(due.step)
            found = self._configurations.publish(found, state.bundle)
        return kept, state, found

    def _write(self, state: State) -> None:
        """The replica's own files. The key comes first: until its certificate follows, the pair in service stays."""
        for name, content, mode in (
            (KEY, state.leaf.key, 0o600),
            (CERTIFICATE, state.leaf.certificate, 0o644),
            (BUNDLE, state.bundle, 0o644),
        ):
            _write_if_new(self._folder / name, content, mode)

    def _note(self, found: dict[str, Object]) -> None:
        """What is published, for the processes of this replica to compare their certificate with."""
        every = sorted({base64.b64encode(each).decode() for configuration in found.values() for each in bundles(configuration)})
        _write_if_new(self._folder / PUBLISHED, json.dumps(every).encode(), 0o644)


def _state(kept: Object | None) -> State | None:
    """The state in the Secret; None if there is none, or one that is to be made anew."""
    try:
        return decoded((kept or {}).get("data") or {})
    except Broken as error:
        if not error.ours:
            raise ClusterError(f"the Secret is somebody else's and is left alone: {error}") from None
        log.error("the Secret cannot be used, and is made anew: %s", error)
        return None


def _write_if_new(path: Path, content: bytes, mode: int) -> None:
    try:
        if path.read_bytes() == content:
            return
    except OSError:
        pass
    files.write(path, content, mode)


def published(folder: Path, chain: bytes, now: datetime) -> str | None:
    """Why clients that trust what is published would not trust a certificate; None if they would.

    Published is what the configurations say; where nobody has looked, what stands beside the certificate.
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
            trusted = reading.vouches(bundle, chain, now)
        except reading.Unreadable as error:
            return f"the published bundle cannot be read: {error}"
        if not trusted:
            return "the published bundle does not vouch for the served certificate"
    return None
