"""How long reading YAML takes, as a ratio to json.loads and to PyYAML's C loader of the same pods in the same run.

    python -m bench.read_yaml [--pods 200] [--rounds 5]

Each figure is the best of several rounds, in CPU time; only ratios are worth comparing. "from scratch" forgets, before each pod,
the lines that the quick reader remembers: the cost of a single file.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from bench.figures import Result, Row
from podstrat import goyaml
from podstrat.goyaml import everyday, syntax

HEAD = """\
apiVersion: v1
kind: Pod
metadata:
  name: worker-{n}
  namespace: default
  labels:
    app: worker
    tier: backend
    index: "{n}"
  annotations:
    example.com/owner: team-{n}
    example.com/revision: "{n}"
spec:
  serviceAccountName: worker
  nodeSelector: {{kubernetes.io/os: linux, example.com/pool: pool-{n}}}
  securityContext:
    runAsNonRoot: true
    fsGroup: 2{n}
    seccompProfile:
      type: RuntimeDefault
  tolerations:
  - key: example.com/dedicated
    operator: Equal
    value: batch
    effect: NoSchedule
  volumes:
  - name: config
    configMap:
      name: config-{n}
      items:
      - key: a.yaml
        path: a.yaml
  - name: scratch
    emptyDir:
      sizeLimit: 1Gi
  - name: secret
    secret:
      secretName: secret-{n}
  containers:
"""
CONTAINER = """\
  - name: c{i}
    image: registry.example.com/team/worker-{i}:{n}
    args: ["--port", "800{i}", "--shard", "{n}"]
    ports:
    - name: http
      containerPort: 800{i}
    - name: metrics
      containerPort: 900{i}
    env:
    - name: SHARD
      value: "{n}"
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: PASSWORD
      valueFrom:
        secretKeyRef:
          name: secret-{n}
          key: password
    resources:
      requests:
        cpu: 250m
        memory: 256Mi
      limits:
        cpu: "1"
        memory: 512Mi
    volumeMounts:
    - name: config
      mountPath: /etc/worker
      readOnly: true
    - name: scratch
      mountPath: /scratch
    livenessProbe:
      httpGet:
        path: /healthz
        port: http
      initialDelaySeconds: 5
      periodSeconds: 10
    securityContext:
      allowPrivilegeEscalation: false
      capabilities:
        drop: [ALL]
"""


def pod(number: int) -> str:
    """A pod as people write them, some 4 KB of YAML, and no two alike."""
    return HEAD.format(n=number) + "".join(CONTAINER.format(n=number, i=i) for i in range(3))


def seconds(function: Callable[[Any], object], inputs: Sequence[Any], rounds: int) -> float:
    """CPU time for one input, the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        start = time.process_time()
        for each in inputs:
            function(each)
        best = min(best, time.process_time() - start)
        gc.enable()
    return best / len(inputs)


def from_scratch(text: str) -> object:
    everyday._known.clear()
    return goyaml.load(text)


def stream(text: str) -> object:
    return [document.value for document in goyaml.documents(text)]


def started(code: str, rounds: int) -> float:
    """Seconds of a new interpreter that runs the code."""
    best = float("inf")
    for _ in range(rounds * 2):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        best = min(best, time.perf_counter() - start)
    return best


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=200, help="how many distinct pods (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="how many rounds, of which the best counts (default 5)")
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    texts = [pod(number) for number in range(100, 100 + args.pods)]
    jsons = [json.dumps(yaml.safe_load(text)) for text in texts]
    anchored = [text.replace("kind: Pod", "kind: &kind Pod") for text in texts]
    assert [goyaml.load(text).value for text in texts] == [json.loads(text) for text in jsons], "the readers disagree"
    assert everyday.read(texts[0]) is not everyday.NOT_MINE, "the quick reader does not take the benchmark's pods"

    loads = seconds(json.loads, jsons, args.rounds)
    c_loader = seconds(lambda text: yaml.load(text, yaml.CSafeLoader), texts, args.rounds)
    size = sum(map(len, texts)) // len(texts)
    print(f"{args.pods} distinct pods of {size} bytes; json.loads {loads * 1e6:.1f} µs, yaml.CSafeLoader {c_loader * 1e6:.1f} µs")
    rows = []
    print(f"{'':34} {'µs':>8} {'of json.loads':>14} {'of CSafeLoader':>15}")
    for name, function, inputs, each in (
        ("load", goyaml.load, texts, 1),
        ("load, from scratch", from_scratch, texts, 1),
        ("load and one mark", lambda text: goyaml.load(text).mark(("spec", "containers", 0)), texts, 1),
        ("load, with an anchor (libyaml)", goyaml.load, anchored, 1),
        ("documents, all in one stream", stream, ["---\n".join(texts)], len(texts)),
        ("documents, JSON", stream, jsons, 1),
    ):
        taken = seconds(function, inputs, args.rounds) / each
        print(f"{name:34} {taken * 1e6:8.1f} {taken / loads:14.2f} {taken / c_loader:15.2f}")
        rows.append(Row(name, taken / c_loader, "PyYAML's C loader"))
    libyaml, syntax.libyaml = syntax.libyaml, lambda: None
    taken = seconds(goyaml.load, anchored[:10], 1)
    syntax.libyaml = libyaml
    print(f"{'load, with an anchor (no libyaml)':34} {taken * 1e6:8.1f} {taken / loads:14.2f} {taken / c_loader:15.2f}")

    starts(texts[0], args.rounds)
    return Result(rows)


def starts(text: str, rounds: int) -> None:
    bare = started("pass", rounds)
    print("a new interpreter, milliseconds more than a bare one:", end=" ")
    for name, code in (
        ("import yaml, json", "import yaml, json"),
        ("import podstrat.goyaml", "import podstrat.goyaml"),
        ("and load a pod", f"from podstrat import goyaml; goyaml.load({text!r})"),
    ):
        print(f"{name} {(started(code, rounds) - bare) * 1e3:.1f}", end="; ")
    print()


if __name__ == "__main__":
    result(arguments())
