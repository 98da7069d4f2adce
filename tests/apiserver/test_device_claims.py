"""Claims for devices over HTTPS: the rules of the engine, and the permission of the namespace."""

from __future__ import annotations

from typing import Any

from podstrat.kubeclient.sync import Client

LABEL = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}


def claim(name: str = "c", **exactly: Any) -> dict[str, Any]:
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu", **exactly}}]
    about = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}}
    return {**about, "spec": {"devices": {"requests": requests}}}


def test_admin_access_follows_the_label_of_the_namespace(client: Client, podstrat_namespace: str) -> None:
    claims = f"/apis/resource.k8s.io/v1/namespaces/{podstrat_namespace}/resourceclaims"
    code, answer = client.send("POST", claims, claim(adminAccess=True))
    assert (code, answer["details"]["causes"][0]["field"]) == (422, "spec.devices.requests[0].adminAccess")
    client.send("PATCH", f"/api/v1/namespaces/{podstrat_namespace}", LABEL, "application/merge-patch+json")
    assert client.send("POST", claims, claim(adminAccess=True))[0] == 201
    result = {"request": "r", "driver": "a.b", "pool": "p", "device": "d", "adminAccess": True}
    patch = {"status": {"allocation": {"devices": {"results": [result]}}}}
    assert client.send("PATCH", f"{claims}/c/status", patch, "application/merge-patch+json")[0] == 200


def test_a_claim_is_judged_as_the_engine_judges_it(client: Client, podstrat_namespace: str) -> None:
    claims = f"/apis/resource.k8s.io/v1/namespaces/{podstrat_namespace}/resourceclaims"
    code, answer = client.send("POST", claims, claim(selectors=[{"cel": {"expression": "device.odd"}}]))
    assert (code, answer["details"]["causes"][0]["message"]) == (
        422,
        "Invalid value: \"device.odd\": compilation failed: ERROR: <input>:1:7: undefined field 'odd'\n | device.odd\n | ......^",
    )
