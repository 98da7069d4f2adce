"""How long the engine takes, as a ratio to json.loads of the same bytes in the same run.

    python -m bench.engine [--pods 1000] [--rounds 15]

Machines are noisy, so what counts is processor time, and only ratios are worth comparing. In a round each work takes its turn at
all pods, one after the other, as the words of the budget have it: that many objects are in no cache, which costs the engine more
than json.loads, whose texts are small. In turns of ten pods the same code comes out 8 to 12 % better.

A figure is the median of the rounds' ratios: the two times of a ratio were taken within a second or two. The ratio of the best
times, printed beside it, is one of two moments: where the speed of the processor itself comes and goes, json.loads, which is done
with all pods in 40 ms, finds a good one more easily than create in 250.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from bench import cluster, typical_policies
from bench.figures import Plot, Result, Row
from podstrat.strategy.admission import World
from podstrat.strategy.engine import Engine

BUDGETS = {"create from a dict": 6.0, "create from bytes": 8.0, "update from dicts": 9.0, "update_status from dicts": 9.0}
WORKLOAD_BUDGET = 1.3  # ratio: beside its template a Deployment has metadata and a few fields
POLICIES_BUDGET = 6.0  # ratio: what the policies of the row may add to a create
ADMISSION_BUDGET = 3.0
"""What the default admission chain may add to a create, with a world of a thousand objects."""
CONTAINERS = (1, 3, 10, 30, 50)
UNIT = "`json.loads` of the same pod"


def pod(number: int, containers: int = 3) -> dict[str, Any]:
    """A pod as people write them: with three containers about 4 KB of JSON, and no two alike."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"worker-{number}",
            "namespace": "default",
            "labels": {"app": "worker", "tier": "backend", "index": str(number)},
            "annotations": {"example.com/owner": f"team-{number % 7}", "example.com/revision": str(number)},
        },
        "spec": {
            "serviceAccountName": "worker",
            "nodeSelector": {"kubernetes.io/os": "linux", "example.com/pool": f"pool-{number % 5}"},
            "securityContext": {"runAsNonRoot": True, "fsGroup": 2000 + number, "seccompProfile": {"type": "RuntimeDefault"}},
            "tolerations": [{"key": "example.com/dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}],
            "volumes": [
                {"name": "config", "configMap": {"name": f"config-{number}", "items": [{"key": "a.yaml", "path": "a.yaml"}]}},
                {"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}},
                {"name": "secret", "secret": {"secretName": f"secret-{number}"}},
            ],
            "containers": [container(number, i) for i in range(containers)],
        },
    }


def container(number: int, i: int) -> dict[str, Any]:
    return {
        "name": f"c{i}",
        "image": f"registry.example.com/team/worker-{i}:{number}",
        "args": ["--port", str(8000 + i), "--shard", str(number)],
        "ports": [{"name": f"http-{i}", "containerPort": 8000 + i}, {"name": f"metrics-{i}", "containerPort": 9000 + i}],
        "env": [
            {"name": "SHARD", "value": str(number)},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": f"secret-{number}", "key": "password"}}},
            {"name": "LOG_LEVEL", "value": "info"},
        ],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/worker", "readOnly": True},
            {"name": "scratch", "mountPath": "/scratch"},
            {"name": "secret", "mountPath": "/var/run/secret", "readOnly": True},
        ],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": f"http-{i}"}, "initialDelaySeconds": 5, "periodSeconds": 10},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8000 + i}, "periodSeconds": 5},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def refused(number: int) -> dict[str, Any]:
    """A pod with thirty faults."""
    bad = pod(number, 10)
    for each in bad["spec"]["containers"]:
        each["name"] = each["name"].upper()
        each["ports"][0]["containerPort"] = 70000
        each["imagePullPolicy"] = "Sometimes"
    return bad


Work = tuple[Callable[[Any], Any], list[Any]]


class Rounds:
    """What works took for one input, in rounds in which each has its turn. The first work is the unit."""

    def __init__(self, works: list[Work], rounds: int) -> None:
        self.taken = [[once(*work) / len(work[1]) for work in works] for _ in range(rounds)]

    def best(self, work: int) -> float:
        """The seconds of the best round."""
        return min(each[work] for each in self.taken)

    def ratio(self, work: int, without: int | None = None) -> float:
        """A work to the unit; or what it takes beyond another one."""
        return median((each[work] - (0 if without is None else each[without])) / each[0] for each in self.taken)

    def line(self, name: str, work: int, without: int | None = None) -> str:
        """The figure in words, with the times of the best rounds."""
        taken = self.best(work) - (0 if without is None else self.best(without))
        ratio, of_best = self.ratio(work, without), taken / self.best(0)
        return f"{name:28} {taken * 1e6:8.1f} µs  ratio {ratio:5.2f} (of the best {of_best:5.2f})"


def once(function: Callable[[Any], Any], inputs: list[Any]) -> float:
    """Processor time of a work for all its inputs."""
    gc.collect(0)
    gc.disable()
    start = time.process_time()
    for each in inputs:
        function(each)
    taken = time.process_time() - start
    gc.enable()
    return taken


def running(stored: dict[str, Any]) -> dict[str, Any]:
    """The stored pod as a kubelet would report it."""
    statuses = [
        {"name": each["name"], "image": each["image"], "imageID": "", "ready": True, "restartCount": 0, "started": True,
         "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
        for each in stored["spec"]["containers"]
    ]  # fmt: skip
    conditions = [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]
    return {**stored, "status": {**stored["status"], "phase": "Running", "conditions": conditions, "containerStatuses": statuses}}


def image_changed(stored: dict[str, Any]) -> dict[str, Any]:
    first, *rest = stored["spec"]["containers"]
    return {**stored, "spec": {**stored["spec"], "containers": [{**first, "image": first["image"] + "x"}, *rest]}}


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=1000, help="how many distinct pods (default 1000)")
    parser.add_argument("--rounds", type=int, default=15, help="how many rounds, whose median counts (default 15)")
    return parser.parse_args(argv)


def result(args: argparse.Namespace) -> Result:
    engine = Engine()
    plot = Plot("Creating a pod", "containers", "µs a pod", {"Engine.create": {}, "json.loads": {}})
    of_verbs = [*verbs(engine, args), *admission(engine, args), policies(args)]
    rows = [*of_verbs, workload(engine, args), sizes(engine, args, plot), refusal(engine, args)]
    return Result(rows, plot)


def verbs(engine: Engine, args: argparse.Namespace) -> Iterator[Row]:
    """What each verb takes for a pod of three containers."""
    pods = [pod(number) for number in range(args.pods)]
    texts = [json.dumps(each).encode() for each in pods]
    stored = [engine.create(each).pod for each in pods]
    assert all(engine.create(each).ok for each in pods[:10]), "the benchmark's own pods are refused"
    updates = [(image_changed(each), each) for each in stored if each]
    statuses = [(running(each), each) for each in stored if each]
    assert engine.update(*updates[0]).ok, "the benchmark's own update is refused"
    assert engine.update_status(*statuses[0]).ok, "the benchmark's own status is refused"

    works: dict[str, Work] = {
        "create from a dict": (engine.create, pods),
        "create from bytes": (engine.create, texts),
        "update from dicts": (lambda pair: engine.update(*pair), updates),
        "update_status from dicts": (lambda pair: engine.update_status(*pair), statuses),
    }
    bodies = [json.dumps(new).encode() for new, _ in updates]
    rounds = Rounds([(json.loads, texts), *works.values(), (json.loads, bodies)], args.rounds)
    size, stored_size = (sum(map(len, every)) // len(every) for every in (texts, bodies))
    print(f"{args.pods} distinct pods of {size} bytes; json.loads {rounds.best(0) * 1e6:.1f} µs = 1")
    print(f"(stored, with their defaults, they have {stored_size} bytes, which take json.loads {rounds.ratio(-1):.2f})")
    for number, name in enumerate(works, 1):
        print(f"{rounds.line(name, number)}  budget {BUDGETS[name]:.0f}")
        yield Row(name, rounds.ratio(number), UNIT, BUDGETS[name])


def admission(engine: Engine, args: argparse.Namespace) -> Iterator[Row]:
    """What the default admission chain adds to a create: in a plain namespace, and in one with limits, quota, Pod Security."""
    pods = [pod(number) for number in range(args.pods)]
    plain, governed = (engine.admitting(World(cluster.objects(governed=each), complete="*")) for each in (False, True))
    for each in (plain, governed):
        assert each.create(pods[0]).ok, "the benchmark's own pod is refused"
    works: list[Work] = [_loading(pods), (engine.create, pods), (plain.create, pods), (governed.create, pods)]
    rounds = Rounds(works, args.rounds)
    for number, name, budget in ((2, "admission adds to create", ADMISSION_BUDGET), (3, "with limits, quota, levels", None)):
        print(f"{rounds.line(name, number, without=1)}  budget {budget or '-'}")
        yield Row(name, rounds.ratio(number, without=1), UNIT, budget)


def policies(args: argparse.Namespace) -> Row:
    """What ten typical admission policies add to a create; they are compiled before."""
    pods = [pod(number) for number in range(args.pods)]
    labels = {"kubernetes.io/metadata.name": "default"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker", "namespace": "default"}}
    without, judged = (
        Engine(admission=World([namespace, account, *more], complete="*")) for more in ([], typical_policies.objects())
    )
    assert judged.create(pods[0]).ok, "the benchmark's own pods are refused by its policies"
    rounds = Rounds([_loading(pods), (without.create, pods), (judged.create, pods)], args.rounds)
    name = "ten policies add to create"
    print(f"{rounds.line(name, 2, without=1)}  budget {POLICIES_BUDGET:.0f}")
    return Row(name, rounds.ratio(2, without=1), UNIT, POLICIES_BUDGET)


def workload(engine: Engine, args: argparse.Namespace) -> Row:
    """What a Deployment takes, beside a pod with the spec of its template."""
    pods = [pod(number) for number in range(args.pods)]
    sent = [deployment(each) for each in pods]
    assert engine.workload(sent[0]).ok, "the benchmark's own deployment is refused"
    rounds = Rounds([(engine.create, pods), (engine.workload, sent)], args.rounds)
    name = "create of a Deployment"
    print(f"{rounds.line(name, 1)}  budget {WORKLOAD_BUDGET}")
    return Row(name, rounds.ratio(1), "create of a pod with its template", WORKLOAD_BUDGET)


def deployment(of: dict[str, Any]) -> dict[str, Any]:
    labels = {"matchLabels": of["metadata"]["labels"]}
    template = {"metadata": {key: of["metadata"][key] for key in ("labels", "annotations")}, "spec": of["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": of["metadata"],
        "spec": {"selector": labels, "template": template},
    }


def sizes(engine: Engine, args: argparse.Namespace, plot: Plot) -> Row:
    """How create grows with the containers."""
    print("containers      create/container   create/json.loads")
    for count in CONTAINERS:
        several = [pod(number, count) for number in range(max(10, args.pods // (5 * count)))]
        rounds = Rounds([_loading(several), (engine.create, several)], args.rounds)
        print(f"{count:10} {rounds.best(1) / count * 1e6:15.1f} µs  {rounds.ratio(1):18.2f}")
        plot.lines["Engine.create"][count], plot.lines["json.loads"][count] = rounds.best(1) * 1e6, rounds.best(0) * 1e6
    return Row(f"create with {count} containers", rounds.ratio(1), UNIT)


def refusal(engine: Engine, args: argparse.Namespace) -> Row:
    wrong = [refused(number) for number in range(max(10, args.pods // 10))]
    found = len(engine.create(wrong[0]).errors)
    rounds = Rounds([_loading(wrong), (engine.create, wrong)], args.rounds)
    print(f"refused with {found} errors, ten containers: {rounds.best(1) * 1e6:.1f} µs, ratio {rounds.ratio(1):.2f}")
    return Row(f"create refused with {found} errors, ten containers", rounds.ratio(1), UNIT)


def _loading(pods: list[Any]) -> Work:
    return json.loads, [json.dumps(each).encode() for each in pods]


if __name__ == "__main__":
    from bench import side_by_side  # here: it has the works of this module measured again

    given = arguments()
    result(given)
    if side_by_side.is_built():
        print(*side_by_side.lines(side_by_side.measure(given)), sep="\n")
