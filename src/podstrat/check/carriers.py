"""Custom resources known to carry pod templates: where the templates are, and how they may differ from those of workloads."""

from __future__ import annotations

from podstrat.records import NamedTuple


class Carrier(NamedTuple):
    """A kind of a group, in every version of it."""

    paths: tuple[str, ...]
    """Where pod templates are, as --template-path takes it."""
    optional: frozenset[str] = frozenset()
    """Fields of the pod spec that the controller fills in: a template may leave them out."""
    extra: frozenset[str] = frozenset()
    """Fields of the pod spec that only this kind has."""


def _ray(at: str) -> tuple[str, ...]:
    return (f"{at}.headGroupSpec.template", f"{at}.workerGroupSpecs[*].template")


def _training(at: str) -> Carrier:
    return Carrier((f"spec.{at}.*.template",))


_KNATIVE = Carrier(
    ("spec.template",),
    frozenset({"containers[].name"}),
    frozenset({"containerConcurrency", "timeoutSeconds", "responseStartTimeoutSeconds", "idleTimeoutSeconds"}),
)
CARRIERS: dict[tuple[str, str], Carrier] = {
    ("argoproj.io", "Rollout"): Carrier(("spec.template",)),
    ("ray.io", "RayCluster"): Carrier(_ray("spec")),
    ("ray.io", "RayJob"): Carrier((*_ray("spec.rayClusterSpec"), "spec.submitterPodTemplate")),
    ("ray.io", "RayService"): Carrier(_ray("spec.rayClusterConfig")),
    ("jobset.x-k8s.io", "JobSet"): Carrier(("spec.replicatedJobs[*].template.spec.template",)),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): Carrier(
        ("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate")
    ),
    # An image may come from an image change trigger.
    ("apps.openshift.io", "DeploymentConfig"): Carrier(("spec.template",), frozenset({"containers[].image"})),
    ("serving.knative.dev", "Service"): _KNATIVE,
    ("serving.knative.dev", "Configuration"): _KNATIVE,
    ("kubeflow.org", "TFJob"): _training("tfReplicaSpecs"),
    ("kubeflow.org", "PyTorchJob"): _training("pytorchReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): _training("mpiReplicaSpecs"),
    ("kubeflow.org", "XGBoostJob"): _training("xgbReplicaSpecs"),
    ("kubeflow.org", "PaddleJob"): _training("paddleReplicaSpecs"),
    ("kubeflow.org", "JAXJob"): _training("jaxReplicaSpecs"),
}
