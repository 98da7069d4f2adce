"""Claims, device classes and resource slices that a server accepts, for tests that change one thing in them."""

from __future__ import annotations

import copy

from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Request

NEWEST, BEFORE = Engine("1.37"), Engine("1.36")
"""Since 1.37 the types declare rules, whose errors come last and have words of their own."""
REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d"}


def made(kind, **rest):
    row = next(each for each in kinds.KINDS if each.kind == kind)
    meta = {"name": "w"} | ({"namespace": "default"} if row.namespaced else {})
    return {"apiVersion": row.api_version, "kind": kind, "metadata": meta, **rest}


def request(name="r", **exactly):
    return {"name": name, "exactly": {"deviceClassName": "gpu", **exactly}}


def claim(*requests, **devices):
    return made("ResourceClaim", spec={"devices": {"requests": list(requests or [request()]), **devices}})


def allocation(*results, **devices):
    return {"allocation": {"devices": {"results": list(results or [RESULT]), **devices}}}


def template(spec=None, **metadata):
    return made("ResourceClaimTemplate", spec={"metadata": metadata, "spec": spec or claim()["spec"]})


def device_class(**spec):
    return made("DeviceClass", spec=spec)


def resource_slice(*devices, **spec):
    about = {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}}
    return made("ResourceSlice", spec={**about, "devices": list(devices or [{"name": "d"}]), **spec})


def send(verb, body, stored=None, sub="", engine=NEWEST, **rest):
    """The answer, and what is wrong in it: a line a cause."""
    row = kinds.BY_NAME[body["apiVersion"], body["kind"]]
    namespace = "default" if row.namespaced else ""
    about = Request(verb, sub, body, name="w", namespace=namespace, resource=row.resource, uid="u", **rest)
    answer = engine.answer(about, stored)
    causes = (answer.body.get("details") or {}).get("causes") or []
    return answer, [f"{cause['field']}: {cause['message']}" for cause in causes]


def lines(body, engine=NEWEST):
    return send("create", body, engine=engine)[1]


def stored(body, engine=NEWEST, **rest):
    answer, found = send("create", body, engine=engine, **rest)
    assert (found, answer.code) == ([], 201)
    return {**answer.body, "metadata": {**answer.body["metadata"], "resourceVersion": "1"}}


def status(new, body=None, before=None, engine=NEWEST, **metadata):
    """What is wrong with a status of a claim that had another one before."""
    old = {**stored(body or claim(), engine), "status": before or {}}
    old["metadata"].update(metadata)
    return send("update", {**copy.deepcopy(old), "status": new}, old, "status", engine)[1]
