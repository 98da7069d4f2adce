"""Manage the webhook's certificates: a private CA and a leaf certificate, in a directory or in the replicas' Secret.

    podstrat certs make --dir DIR --name NAME   a first authority and a leaf for this name; --name may be given several times
    podstrat certs show --dir DIR               what is there, and what is due
    podstrat certs rotate --dir DIR             a new leaf; with --authority one step towards a new authority
    podstrat certs verify --dir DIR             whether clients that trust ca.crt trust the leaf; exit code 1 if they do not

With --secret NAMESPACE/NAME instead of --dir the same is done in a cluster (--kubeconfig FILE says in which). The replicas take
up what is changed there by themselves, and carry a new authority through its further steps.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podstrat import exits

if TYPE_CHECKING:
    from podstrat.certs.rotation import Policy, State


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("make", "show", "rotate", "verify"), help="action")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--dir", type=Path, help="directory of the certificate files")
    where.add_argument("--secret", metavar="NAMESPACE/NAME", help="Secret shared by the replicas")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        dest="names",
        metavar="NAME",
        help="DNS name or IP address of the server",
    )
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig file (default: in-cluster configuration)")
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: its current context)")
    parser.add_argument("--authority", action="store_true", help="rotate: the certificate authority, not only the leaf")
    parser.add_argument(
        "--leaf-days", type=float, default=90.0, metavar="N", help="validity of a leaf certificate in days (default 90)"
    )
    parser.add_argument(
        "--authority-days",
        type=float,
        default=730.0,
        metavar="N",
        help="validity of a certificate authority in days (default 730)",
    )


def run(args: argparse.Namespace) -> int:
    try:
        from podstrat.certs import cluster, rotation
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[webhook]'") from None
    policy = rotation.Policy(timedelta(days=args.leaf_days), timedelta(days=args.authority_days))
    try:
        place: _Folder | _Secret = (
            _Folder(args.dir) if args.dir is not None else _Secret(args.secret, args.kubeconfig, args.context)
        )
        action: Any = {"make": _make, "show": _show, "rotate": _rotate, "verify": _verify}[args.action]
        try:
            code: int = action(args, place, policy, datetime.now(UTC))
        finally:
            place.close()
        return code
    except cluster.ClusterError as error:
        raise exits.BadArguments(str(error)) from None


# ---- where ---------------------------------------------------------------------------------------------


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def close(self) -> None:
        """Files are closed already."""

    def read(self) -> State | None:
        from podstrat.certs import folder, secret

        try:
            return folder.read(self._folder)
        except secret.Broken as error:
            raise exits.BadArguments(f"{self._folder}: {error}") from None

    def write(self, state: State) -> None:
        from podstrat.certs import folder

        folder.write(self._folder, state)


class _Secret:
    def __init__(self, where: str, kubeconfig: Path | None, context: str | None) -> None:
        from podstrat.certs import cluster, secret

        namespace, slash, name = where.partition("/")
        if not slash or not namespace or not name:
            raise exits.BadArguments("--secret: expected NAMESPACE/NAME")
        self._where = where
        self._cluster = cluster.KubernetesCluster(kubeconfig, context)
        self._secret = secret.SharedSecret(self._cluster, namespace, name)
        self._state: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"secret {self._where}"

    def close(self) -> None:
        self._cluster.close()

    def read(self) -> State | None:
        from podstrat.certs import secret

        self._state = self._secret.read()
        try:
            return secret.decoded((self._state or {}).get("data") or {})
        except secret.Broken as error:
            raise exits.BadArguments(f"{self}: {error}") from None

    def write(self, state: State) -> None:
        self._state = self._secret.write(state, self._state)


Place = _Folder | _Secret


def _there(place: Place) -> State:
    state = place.read()
    if state is None:
        raise exits.BadArguments(f"{place}: no certificates yet; create them with `podstrat certs make`")
    return state


# ---- what ----------------------------------------------------------------------------------------------


def _make(args: argparse.Namespace, place: Place, policy: Policy, now: datetime) -> int:
    from podstrat.certs import rotation

    if place.read() is not None:
        raise exits.BadArguments(f"{place}: certificates already exist; renew them with `podstrat certs rotate`")
    if not args.names:
        raise exits.BadArguments("make: --name is required")
    place.write(rotation.begin(args.names, now, policy))
    print(f"created a certificate authority and a leaf certificate for {', '.join(args.names)} in {place}")
    return exits.OK


def _show(args: argparse.Namespace, place: Place, policy: Policy, now: datetime) -> int:
    from podstrat.certs import inspect, rotation

    state = _there(place)
    rows = [("leaf", state.leaf.certificate), ("authority", state.authority.certificate)]
    if state.successor is not None:
        rows.append(("successor", state.successor.certificate))
    rows += [("trusted", each) for each in state.trusted]
    for what, certificate in rows:
        facts = inspect.facts(certificate)
        names = f"  {', '.join(facts.names)}" if facts.names else ""
        print(f"{what:10} {facts.fingerprint[:16]}  {facts.begins:%Y-%m-%d %H:%M} to {facts.ends:%Y-%m-%d %H:%M}{names}")
    due = rotation.due(state, _names(args, state), now, policy, published=True)
    print(f"due: {due.step} ({due.reason})")
    return exits.OK


def _rotate(args: argparse.Namespace, place: Place, policy: Policy, now: datetime) -> int:
    from podstrat.certs import rotation

    state = _there(place)
    names = _names(args, state)
    step: rotation.Step = "leaf"
    if args.authority:
        # A succession that has begun goes on with its own next step, when the time for it has come.
        begun = state.successor is not None or len(state.trusted) > 1
        step = rotation.due(state, names, now, policy, published=True).step if begun else "introduce"
        if step in ("nothing", "leaf"):
            print("a CA rollover is in progress; its next step is not due yet")
            return exits.OK
    place.write(rotation.carried_out(step, state, names, now, policy))
    print(f"{step}: done in {place}")
    return exits.OK


def _verify(args: argparse.Namespace, place: Place, policy: Policy, now: datetime) -> int:
    from podstrat.certs import inspect

    state = _there(place)
    faults = []
    try:
        if not inspect.belong_together(state.leaf):
            faults.append("tls.key is not the key of tls.crt")
        if not inspect.vouches(state.bundle, state.leaf.certificate, now):
            faults.append("clients that trust ca.crt do not trust tls.crt")
        if args.names and not inspect.has_names(state.leaf.certificate, args.names):
            faults.append(f"tls.crt is not for all of {', '.join(args.names)}")
    except inspect.Unreadable as error:
        faults.append(str(error))
    for fault in faults:
        print(fault)
    if not faults:
        print(f"valid until {inspect.facts(state.leaf.certificate).ends:%Y-%m-%d %H:%M}")
    return exits.INVALID if faults else exits.OK


def _names(args: argparse.Namespace, state: State) -> tuple[str, ...]:
    """The names that were given, or those that the leaf has."""
    from podstrat.certs import inspect

    return tuple(args.names) or inspect.facts(state.leaf.certificate).names
