import json
import runpy
from pathlib import Path

import pytest

from podstrat.strategy.gates import history
from podstrat.strategy.gates.history import GateError, Stage, VersionError

ROOT = Path(__file__).parents[3]


def settings(text):
    return history.parse_flag(text)


# ---- versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "version, parsed",
    [
        pytest.param("1.37", (1, 37), id="release"),
        pytest.param("v1.36", (1, 36), id="release-with-v"),
        pytest.param("v1.35.8", (1, 35), id="patch"),
        pytest.param("1.37.0-rc.1", (1, 37), id="candidate"),
        pytest.param("v1.34.11+k3s1", (1, 34), id="build"),
        pytest.param((1, 36), (1, 36), id="pair"),
    ],
)
def test_versions(version, parsed):
    assert history.parse_version(version) == parsed


@pytest.mark.parametrize(
    "version, message",
    [
        pytest.param("1.33", "Kubernetes 1.33 is not supported: choose one of 1.34, 1.35, 1.36, 1.37", id="too-old"),
        pytest.param("v1.38.1", "Kubernetes v1.38.1 is not supported: choose one of 1.34, 1.35, 1.36, 1.37", id="too-new"),
        pytest.param((2, 37), "Kubernetes 2.37 is not supported: choose one of 1.34, 1.35, 1.36, 1.37", id="other-major"),
        pytest.param("latest", '"latest" is not a version of Kubernetes: write it like 1.37 or v1.37.2', id="word"),
        pytest.param("1", '"1" is not a version of Kubernetes: write it like 1.37 or v1.37.2', id="major-only"),
        pytest.param("", '"" is not a version of Kubernetes: write it like 1.37 or v1.37.2', id="empty"),
        pytest.param("1.37 ", '"1.37 " is not a version of Kubernetes: write it like 1.37 or v1.37.2', id="blank"),
    ],
)
def test_versions_that_are_not_here(version, message):
    with pytest.raises(VersionError) as error:
        history.parse_version(version)
    assert str(error.value) == message


# ---- the flag ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, parsed",
    [
        pytest.param("", {}, id="empty"),
        pytest.param("A=true,B=false", {"A": True, "B": False}, id="two"),
        pytest.param(" A = T , B=0,,C=TRUE,", {"A": True, "B": False, "C": True}, id="blanks-and-spellings"),
        pytest.param("A=true,A=false", {"A": False}, id="last-counts"),
    ],
)
def test_flag(text, parsed):
    assert history.parse_flag(text) == parsed


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("A", "missing bool value for A", id="no-value"),
        pytest.param("A=true, B", "missing bool value for B", id="no-value-later"),
        pytest.param("A=", 'invalid value of A=, err: strconv.ParseBool: parsing "": invalid syntax', id="empty-value"),
        pytest.param("A=yes", 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax', id="other-word"),
        pytest.param("A=b=c", 'invalid value of A=b=c, err: strconv.ParseBool: parsing "b=c": invalid syntax', id="two-equals"),
    ],
)
def test_bad_flags(text, message):
    with pytest.raises(GateError) as error:
        history.parse_flag(text)
    assert str(error.value) == message


# ---- histories -----------------------------------------------------------------------------------


def test_the_table_is_what_the_tool_makes():
    tool = runpy.run_path(str(ROOT / "tools" / "make_gates.py"))
    assert (ROOT / "strategy" / "gates" / "history.json").read_text() == tool["text"]()


def test_histories_go_forward():
    table = json.loads((ROOT / "strategy" / "gates" / "history.json").read_text())
    for rows in table["stages"].values():
        releases = [tuple(map(int, row[0].split("."))) for row in rows]
        assert releases == sorted(set(releases))


@pytest.mark.parametrize(
    "gate, stages",
    [
        pytest.param("ResourceHealthStatus", ["Alpha-", "Alpha-", "Beta+", "Beta+"], id="grows-up"),
        pytest.param("ResourceHealthStatusMessage", [None, None, "Beta+", "Beta+"], id="born-on"),
        pytest.param("InPlacePodVerticalScaling", ["Beta+", "GA+!", "GA+!", "GA+!"], id="locked"),
        pytest.param("PodCertificateRequest", ["Alpha-", "Beta-", "Beta-", "GA+"], id="general-but-not-locked"),
        pytest.param("SidecarContainers", ["GA+!", "GA+!", "GA+!", None], id="retired"),
        pytest.param("GitRepoVolumeDriver", ["Deprecated-", "Deprecated-", "Deprecated-!", "Deprecated-!"], id="deprecated"),
        pytest.param("APIServerIdentity", ["Beta+", "Beta+", "Beta+", "Beta+"], id="no-part-for-pods"),
        pytest.param("JobManagedBy", ["Beta+", "GA+!", "GA+!", "GA+!"], id="no-part-for-pods-locked"),
        pytest.param("GangScheduling", [None, "Alpha-", "Alpha-", None], id="given-up"),
        pytest.param("AllAlpha", ["Alpha-", "Alpha-", "Alpha-", "Alpha-"], id="all-alpha"),
    ],
)
def test_stages_by_release(gate, stages):
    def shown(stage: Stage | None):
        return stage and stage.stage + "-+"[stage.default] + "!" * stage.locked

    assert [shown(history.known(release).get(gate)) for release in history.RELEASES] == stages


# ---- what is on ----------------------------------------------------------------------------------


@pytest.mark.parametrize("release", history.RELEASES)
def test_defaults(release):
    on = history.enabled(release)
    for gate, stage in history.known(release).items():
        assert (gate in on) == stage.default


@pytest.mark.parametrize(
    "version, flag",
    [
        pytest.param("1.36", "ResourceHealthStatus=false,ResourceHealthStatusMessage=false", id="1.36-health-off"),
        pytest.param("1.36", "AllBeta=false", id="1.36-beta-off"),
        pytest.param("1.37", "ResourceHealthStatusMessage=false", id="1.37-message-off"),
        pytest.param("1.37", "ResourceHealthStatus=false,ResourceHealthStatusMessage=false", id="1.37-health-off"),
        pytest.param("1.37", "InPlacePodLevelResourcesVerticalScaling=false", id="1.37-podlevel-resize-off"),
        pytest.param("1.37", "AllAlpha=true,AllBeta=true", id="1.37-all-alpha"),
        pytest.param("1.37", "AllBeta=false", id="1.37-beta-off"),
    ],
)
def test_mixes_that_real_servers_started_with(version, flag):
    on = history.enabled(version, settings(flag))
    for gate, value in settings(flag).items():
        assert (gate in on) == (value and gate not in ("AllAlpha", "AllBeta"))


@pytest.mark.parametrize(
    "version, flag, on, off",
    [
        pytest.param("1.37", "EvictionRequestAPI=true", {"EvictionRequestAPI"}, {"EmptyDirVolumeMode"}, id="one-on"),
        pytest.param("1.37", "EnvFiles=false", {"ContainerRestartRules"}, {"EnvFiles"}, id="one-off"),
        pytest.param("1.36", "AllAlpha=true", {"ContainerStopSignals", "EnvFiles"}, {"SELinuxMount"}, id="all-alpha"),
        pytest.param(
            "1.36", "AllAlpha=true,ContainerStopSignals=false", {"GenericWorkload"}, {"ContainerStopSignals"}, id="alpha-but"
        ),
        pytest.param(
            "1.36", "ContainerStopSignals=false,AllAlpha=true", {"GenericWorkload"}, {"ContainerStopSignals"}, id="but-alpha"
        ),
        pytest.param("1.36", "AllAlpha=false", {"EnvFiles"}, {"ContainerStopSignals"}, id="no-alpha-is-the-default"),
        pytest.param("1.37", "AllBeta=true", {"GenericWorkload", "SELinuxMount"}, {"EvictionRequestAPI"}, id="all-beta"),
        pytest.param("1.36", "AllBeta=false", {"ImageVolume", "ProcMountType"}, {"EnvFiles", "HostnameOverride"}, id="no-beta"),
        pytest.param("1.36", "AllBeta=false,EnvFiles=true", {"EnvFiles"}, {"HostnameOverride"}, id="no-beta-but"),
        pytest.param("1.37", "AllBeta=false", {"HostnameOverride", "PodCertificateRequest"}, {"EnvFiles"}, id="general-stays"),
        pytest.param("1.37", "SELinuxMount=false", set(), {"SELinuxMount"}, id="general-but-not-locked"),
        pytest.param("1.37", "HostnameOverride=true", {"HostnameOverride"}, set(), id="locked-to-its-value"),
        pytest.param("1.37", "StorageVersionHash=false,KMSv1=true", {"KMSv1"}, {"StorageVersionHash"}, id="no-part-for-pods"),
        pytest.param("1.37", "", {"SidecarContainers", "RelaxedDNSSearchValidation"}, {"GangScheduling"}, id="retired-stays-on"),
        pytest.param("1.34", "InPlacePodVerticalScaling=false", set(), {"InPlacePodVerticalScaling"}, id="not-locked-yet"),
        pytest.param("1.34", "PodLifecycleSleepAction=true", {"PodLifecycleSleepAction"}, {"EnvFiles"}, id="1.34"),
        pytest.param(
            "1.34", "UserNamespacesSupport=false", {"ProcMountType"}, {"UserNamespacesSupport"}, id="1.34-looks-at-no-mix"
        ),
        pytest.param(
            "1.35", "UserNamespacesHostNetworkSupport=true", {"UserNamespacesHostNetworkSupport"}, set(), id="1.35-requires-less"
        ),
    ],
)
def test_overrides(version, flag, on, off):
    result = history.enabled(version, settings(flag))
    assert on - result == set()
    assert off & result == set()
    assert not result & {"AllAlpha", "AllBeta"}


REQUIRES = "is enabled, but depends on features that are disabled:"


@pytest.mark.parametrize(
    "version, flag, message",
    [
        pytest.param("1.37", "Foo=true", "unrecognized feature gate: Foo", id="unknown"),
        pytest.param("1.37", "EnvFile=true", "unrecognized feature gate: EnvFile (did you mean EnvFiles?)", id="misspelt"),
        pytest.param("1.37", "envfiles=true", "unrecognized feature gate: envfiles (did you mean EnvFiles?)", id="lower-case"),
        pytest.param(
            "1.35",
            "ResourceHealthStatusMessage=true",
            "unrecognized feature gate: ResourceHealthStatusMessage (known only in 1.36 and later)",
            id="not-yet",
        ),
        pytest.param(
            "1.37",
            "SidecarContainers=true",
            "unrecognized feature gate: SidecarContainers (known only up to 1.36)",
            id="no-longer",
        ),
        pytest.param(
            "1.34",
            "GangScheduling=true",
            "unrecognized feature gate: GangScheduling (known only in 1.35 and 1.36)",
            id="for-a-while",
        ),
        pytest.param(
            "1.37",
            "ImageVolume=false",
            "cannot set feature gate ImageVolume to false, feature is locked to true",
            id="locked-on",
        ),
        pytest.param(
            "1.36",
            "GitRepoVolumeDriver=true",
            "cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false",
            id="locked-off",
        ),
        pytest.param(
            "1.37",
            "ImageVolume=false,HostnameOverride=false",
            "[cannot set feature gate ImageVolume to false, feature is locked to true, "
            "cannot set feature gate HostnameOverride to false, feature is locked to true]",
            id="two-locked",
        ),
        pytest.param("1.37", "ImageVolume=false,Foo=true", "unrecognized feature gate: Foo", id="unknown-comes-first"),
        pytest.param(
            "1.37", "ResourceHealthStatus=false", f"ResourceHealthStatusMessage {REQUIRES} [ResourceHealthStatus]", id="requires"
        ),
        pytest.param(
            "1.36",
            "NodeDeclaredFeatures=false,ExtendWebSocketsToKubelet=false",
            f"[InPlacePodLevelResourcesVerticalScaling {REQUIRES} [NodeDeclaredFeatures], "
            f"InPlacePodVerticalScalingInitContainers {REQUIRES} [NodeDeclaredFeatures], "
            f"RestartAllContainersOnContainerExits {REQUIRES} [NodeDeclaredFeatures]]",
            id="several-require",
        ),
        pytest.param(
            "1.35",
            "InPlacePodLevelResourcesVerticalScaling=true,PodLevelResources=false",
            f"InPlacePodLevelResourcesVerticalScaling {REQUIRES} [PodLevelResources NodeDeclaredFeatures]",
            id="requires-several",
        ),
        pytest.param(
            "1.36",
            "UserNamespacesHostNetworkSupport=true,AllBeta=false",
            f"UserNamespacesHostNetworkSupport {REQUIRES} [NodeDeclaredFeatures]",
            id="1.36-requires-more",
        ),
        pytest.param(
            "1.36",
            "AllBeta=false,ResourceHealthStatusMessage=true",
            f"ResourceHealthStatusMessage {REQUIRES} [ResourceHealthStatus]",
            id="beta-off-but",
        ),
        pytest.param(
            "1.37",
            "AllAlpha=true",
            f"[CompositePodGroup {REQUIRES} [GenericWorkload], PodGroupPreemptionPolicy {REQUIRES} [GenericWorkload], "
            f"TopologyAwareWorkloadScheduling {REQUIRES} [GenericWorkload], WorkloadWithJob {REQUIRES} [GenericWorkload]]",
            id="all-alpha-alone-in-1.37",
        ),
    ],
)
def test_servers_that_do_not_start(version, flag, message):
    with pytest.raises(GateError) as error:
        history.enabled(version, settings(flag))
    assert str(error.value) == message


def test_a_value_is_a_bool():
    with pytest.raises(GateError) as error:
        history.enabled("1.37", {"EnvFiles": "no"})
    assert str(error.value) == "invalid value of EnvFiles=no, must be true or false"


def test_only_1_34_takes_any_mix():
    assert [bool(history.requires(history.parse_version(release))) for release in history.RELEASES] == [False, True, True, True]
