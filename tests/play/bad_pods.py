"""Bad pods of every kind of finding: what decoding, rules, warnings, admission, kubectl and YAML have to say."""

from __future__ import annotations

from tests.check.conftest import GOOD

POD = GOOD.replace(":1.29", "")

BAD = {
    "a value that is not supported": POD + "  restartPolicy: onfailure\n",
    "a port out of range": POD + "    ports:\n    - containerPort: 70000\n",
    "a required value": POD.replace("    image: nginx\n", "").replace("- name: web", "- image: nginx"),
    "several at once": POD.replace("name: web\n    image", "name: Web_\n    image")
    + "  restartPolicy: never\n  dnsPolicy: None\n",
    "an unknown field": POD + "  restartpolicy: Never\n",
    "a wrong type": POD + "    ports:\n    - containerPort: eighty\n",
    "a duplicate key": POD + "    image: nginx:2\n",
    "a request above its limit": POD + "    resources:\n      requests: {memory: 2Gi}\n      limits: {memory: 1Gi}\n",
    "a warning": POD.replace("name: web\nspec", "name: web.\u00e9\nspec")
    + "    env:\n    - {name: A, value: a}\n    - {name: A, value: b}\n",
    "no kind": POD.replace("kind: Pod\n", ""),
    "an API version that is gone": "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata:\n  name: web\nspec: {}\n",
    "a workload": POD.replace("apiVersion: v1\nkind: Pod", "apiVersion: apps/v1\nkind: Deployment"),
    "not YAML": "spec: [\n",
    "two documents": POD + "  restartPolicy: always\n---\n" + POD + "  hostNetwork: maybe\n",
    "markup": POD.replace("image: nginx", "image: '<img src=x onerror=alert(1)> '"),
}
