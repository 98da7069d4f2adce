"""Reviews and tokens: who somebody is, what somebody may do, and tokens of service accounts that the server knows again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.account_tokens import ISSUER
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.auth import Authenticator, Unauthorized, parse_token
from podstrat.apiserver.calls import Call, Reply, Target
from podstrat.apiserver.kinds import BY_KIND, Kind
from podstrat.apiserver.storage.store import Store
from podstrat.certs.jwt import SigningKey
from podstrat.strategy.admission import Settings
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import User

Object = dict[str, Any]
JSON = "application/json"
ACCOUNT, POD, SECRET = (BY_KIND["v1", each] for each in ("ServiceAccount", "Pod", "Secret"))
MASTERS = "system:masters"


class Server:
    """A server whose clock stands still."""

    def __init__(self, mode: str = "AlwaysAllow", folder: Path | None = None, key_folder: Path | None = None) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        store, engine = Store.open(folder), Engine("1.37")
        admission = Admission(store, engine.context.version, plugins=Settings(authorization_mode=mode))
        controllers = frozenset({"serviceaccount", "namespace"})
        self.api = Api(store, engine, admission=admission, controllers=controllers, clock=lambda: self.now, key_folder=key_folder)
        self.api.bootstrap()
        self.authenticator = Authenticator([parse_token("t,tom,people")], False, self.api.service_account)
        self.api.reviews.authenticator = self.authenticator

    def __call__(self, method: str, kind: Kind, body: Any, name: str = "", part: str = "", user: User | None = None) -> Reply:
        target = Target(kind, "default" if kind.namespaced else "", name, part)
        user = user or User("ann", (MASTERS, "system:authenticated"))
        return self.api.handle(Call(method, target, {}, json.dumps(body).encode(), JSON, JSON, "test", user))

    def review(self, kind: str, spec: Object, user: User | None = None) -> Reply:
        group = "authentication" if kind in ("TokenReview", "SelfSubjectReview") else "authorization"
        return self("POST", BY_KIND[f"{group}.k8s.io/v1", kind], {"spec": spec} if spec else {}, user=user)

    def status(self, kind: str, spec: Object, user: User | None = None) -> Object:
        reply = self.review(kind, spec, user)
        assert reply.code == 201, reply.body
        assert reply.body is not None
        assert reply.body["kind"] == kind
        return reply.body["status"]

    def token(self, spec: Object | None = None, name: str = "default") -> Reply:
        return self("POST", ACCOUNT, {"spec": spec or {}}, name, "token")

    def issued(self, spec: Object | None = None) -> Object:
        reply = self.token(spec)
        assert reply.code == 201, reply.body
        assert reply.body is not None
        return reply.body


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.api.store.close()


def claims(token: str) -> Object:
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def message(reply: Reply) -> tuple[int, str]:
    assert reply.body is not None
    return reply.code, reply.body["message"]


# ---- tokens ----------------------------------------------------------------------------------------


def test_a_token_of_a_service_account(server: Server) -> None:
    made = server.issued()
    assert (made["kind"], made["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert made["spec"] == {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
    assert made["status"]["expirationTimestamp"] == "2026-01-01T01:00:00Z"
    account = server.api.store.get(ACCOUNT, "default", "default")
    assert account is not None
    uid = account.obj["metadata"]["uid"]
    said = claims(made["status"]["token"])
    assert said["sub"] == "system:serviceaccount:default:default"
    assert said["kubernetes.io"] == {"namespace": "default", "serviceaccount": {"name": "default", "uid": uid}}
    assert said["exp"] - said["iat"] == 3600

    user = server.authenticator.user(f"Bearer {made['status']['token']}", None)
    assert user.name == "system:serviceaccount:default:default"
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated")
    assert (user.uid, user.extra) == (uid, {"authentication.kubernetes.io/credential-id": (f"JTI={said['jti']}",)})


def test_a_token_ends(server: Server) -> None:
    token = server.issued({"expirationSeconds": 600})["status"]["token"]
    server.now += timedelta(seconds=599)
    assert server.authenticator.user(f"Bearer {token}", None)
    server.now += timedelta(seconds=1)
    with pytest.raises(Unauthorized):
        server.authenticator.user(f"Bearer {token}", None)


@pytest.mark.parametrize("change", ["signature", "claims", "header", "text"])
def test_a_token_that_is_not_ours(server: Server, change: str) -> None:
    head, said, signature = server.issued()["status"]["token"].split(".")
    if change == "signature":
        signature = SigningKey.new().sign({"a": 1}).split(".")[2]
    elif change == "claims":
        said = base64.urlsafe_b64encode(json.dumps({"sub": "root"}).encode()).rstrip(b"=").decode()
    elif change == "header":
        head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    forged = "a.b.c" if change == "text" else f"{head}.{said}.{signature}"
    with pytest.raises(Unauthorized):
        server.authenticator.user(f"Bearer {forged}", None)
    assert server.status("TokenReview", {"token": forged}) == {"user": {}, "error": "invalid bearer token"}


def test_a_token_goes_with_its_account(server: Server) -> None:
    token = server.issued()["status"]["token"]
    assert server("DELETE", ACCOUNT, {}, "default").code == 200
    # Another one of that name is made at once, with another uid.
    with pytest.raises(Unauthorized):
        server.authenticator.user(f"Bearer {token}", None)


def test_a_token_is_bound_to_a_pod(server: Server) -> None:
    body = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
    made = server("POST", POD, body)
    assert made.code == 201, made.body
    assert made.body is not None
    uid = made.body["metadata"]["uid"]
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": uid}
    token = server.issued({"boundObjectRef": ref})["status"]["token"]
    assert claims(token)["kubernetes.io"]["pod"] == {"name": "p", "uid": uid}
    assert claims(token)["kubernetes.io"]["node"] == {"name": "n"}
    status = server.status("TokenReview", {"token": token})
    assert status["user"]["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]
    assert message(server.token({"boundObjectRef": {**ref, "uid": "other"}}))[0] == 409
    assert message(server.token({"boundObjectRef": {**ref, "name": "q"}})) == (404, 'pods "q" not found')
    assert server("DELETE", POD, {"gracePeriodSeconds": 0}, "p").code == 200
    assert server.status("TokenReview", {"token": token})["error"] == "invalid bearer token"


@pytest.mark.parametrize(
    "seconds, words",
    [
        (599, "may not specify a duration less than 10 minutes"),
        ((1 << 32) + 1, "may not specify a duration larger than 2^32 seconds"),
    ],
)
def test_how_long_a_token_may_last(server: Server, seconds: int, words: str) -> None:
    code, text = message(server.token({"expirationSeconds": seconds}))
    assert (code, text) == (
        422,
        f'TokenRequest.authentication.k8s.io "default" is invalid: spec.expirationSeconds: Invalid value: {seconds}: {words}',
    )


def test_no_such_account(server: Server) -> None:
    assert message(server.token(name="nobody")) == (404, 'serviceaccounts "nobody" not found')


def test_tokens_outlive_a_restart_with_a_data_directory(tmp_path: Path) -> None:
    first = Server(folder=tmp_path, key_folder=tmp_path)
    token = first.issued()["status"]["token"]
    first.api.store.close()
    second = Server(folder=tmp_path, key_folder=tmp_path)
    assert second.authenticator.user(f"Bearer {token}", None).name == "system:serviceaccount:default:default"
    assert (tmp_path / "service-accounts.key").stat().st_mode & 0o777 == 0o600
    second.api.store.close()


# ---- TokenReview -----------------------------------------------------------------------------------


def test_token_review(server: Server) -> None:
    token = server.issued({"audiences": ["a", ISSUER]})["status"]["token"]
    status = server.status("TokenReview", {"token": token})
    assert (status["authenticated"], status["audiences"]) == (True, [ISSUER])
    assert status["user"]["username"] == "system:serviceaccount:default:default"
    assert server.status("TokenReview", {"token": token, "audiences": ["a", "b"]})["audiences"] == ["a"]
    assert "authenticated" not in server.status("TokenReview", {"token": token, "audiences": ["b"]})
    listed = server.status("TokenReview", {"token": "t"})
    assert listed["user"] == {"username": "tom", "groups": ["people", "system:authenticated"]}
    assert message(server.review("TokenReview", {})) == (400, "token is required for TokenReview in authentication")


# ---- access ----------------------------------------------------------------------------------------

PODS = {"resourceAttributes": {"namespace": "default", "verb": "list", "resource": "pods"}}


@pytest.mark.parametrize("kind", ["SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview"])
def test_everything_is_allowed(server: Server, kind: str) -> None:
    assert server.status(kind, {**PODS, **({} if kind.startswith("Self") else {"user": "eve"})}) == {"allowed": True}


@pytest.fixture
def roles() -> Iterator[Server]:
    """A server with roles: tom may list pods in the namespace default."""
    made = Server("RBAC")
    rbac = "rbac.authorization.k8s.io/v1"
    rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}
    assert made("POST", BY_KIND[rbac, "Role"], {"metadata": {"name": "r"}, "rules": [rule]}).code == 201
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    binding = {"metadata": {"name": "b"}, "roleRef": ref, "subjects": [{"kind": "User", "name": "tom"}]}
    assert made("POST", BY_KIND[rbac, "RoleBinding"], binding).code == 201
    yield made
    made.api.store.close()


def test_roles_decide(roles: Server) -> None:
    assert roles.status("SubjectAccessReview", {**PODS, "user": "tom"}) == {"allowed": True}
    assert roles.status("SubjectAccessReview", {**PODS, "user": "eve"}) == {"allowed": False}
    assert roles.status("SubjectAccessReview", {**PODS, "user": "eve", "groups": [MASTERS]}) == {"allowed": True}
    assert roles.status("LocalSubjectAccessReview", {**PODS, "user": "tom"}) == {"allowed": True}
    assert roles.status("SelfSubjectAccessReview", PODS) == {"allowed": True}


def test_users_may_ask_about_themselves(roles: Server) -> None:
    tom = User("tom", ("people", "system:authenticated"))
    assert roles.status("SelfSubjectAccessReview", PODS, tom) == {"allowed": True}
    secrets = {"resourceAttributes": {**PODS["resourceAttributes"], "resource": "secrets"}}
    assert roles.status("SelfSubjectAccessReview", secrets, tom) == {"allowed": False}
    assert roles.status("SelfSubjectRulesReview", {"namespace": "default"}, tom) == {
        "resourceRules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}],
        "nonResourceRules": None,
        "incomplete": False,
    }
    assert roles.review("SubjectAccessReview", {**PODS, "user": "eve"}, tom).code == 403


def test_rules_of_the_caller(server: Server, roles: Server) -> None:
    everything = server.status("SelfSubjectRulesReview", {"namespace": "default"})
    assert everything == {
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        "incomplete": False,
    }
    assert roles.status("SelfSubjectRulesReview", {"namespace": "default"}) == everything
    assert message(server.review("SelfSubjectRulesReview", {})) == (400, "no namespace on request")


@pytest.mark.parametrize(
    "kind, spec, code, words",
    [
        pytest.param(
            "SubjectAccessReview",
            {"user": "u"},
            422,
            "spec.resourceAttributes: Invalid value: null: "
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            id="nothing-asked",
        ),
        pytest.param(
            "SubjectAccessReview",
            PODS,
            422,
            'spec.user: Invalid value: "": at least one of user or group must be specified',
            id="nobody",
        ),
        pytest.param(
            "LocalSubjectAccessReview",
            {"user": "u", "resourceAttributes": {"namespace": "other", "verb": "get", "resource": "pods"}},
            400,
            "spec.resourceAttributes.namespace must match namespace: default",
            id="another-namespace",
        ),
    ],
)
def test_refused_reviews(server: Server, kind: str, spec: Object, code: int, words: str) -> None:
    found, text = message(server.review(kind, spec))
    assert found == code
    assert text.endswith(words), text


def test_self_subject_review(server: Server) -> None:
    user = User("ann", ("g",), "u-1", {"k": ("v",)})
    assert server.status("SelfSubjectReview", {}, user) == {
        "userInfo": {"username": "ann", "uid": "u-1", "groups": ["g"], "extra": {"k": ["v"]}}
    }
