"""The table of kinds, and what no recorded answer shows of their rules."""

from __future__ import annotations

import pytest

from podstrat.apiserver import kinds as served
from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import cron
from podstrat.strategy.request import Request
from tests.strategy.workload import make


def test_every_row_is_one_of_a_kind():
    assert len(kinds.BY_RESOURCE) == len(kinds.BY_NAME) == len(kinds.KINDS)
    for kind in kinds.KINDS:
        assert kind.type_name in Engine("1.37").context.types
        assert "" in kind.strategy.updates


def test_every_kind_with_rules_is_served():
    rows = {each.qualified: each for each in served.KINDS}
    for kind in kinds.KINDS:
        row = rows[kind.resource]
        assert (row.kind, row.api_version, row.namespaced) == (kind.kind, kind.api_version, kind.namespaced)
        assert row.has_status == ("status" in kind.strategy.updates)
        assert any(name == "scale" for name, _, _ in row.subresources) == (kind.strategy.scale is not None)


@pytest.mark.parametrize(
    "kind, spec",
    [
        pytest.param("Job", {"completionMode": "Indexed", "parallelism": 1}, id="job"),
        pytest.param("CronJob", {"completionMode": "Indexed"}, id="cron-job"),
    ],
)
@pytest.mark.parametrize("rule", [{"succeededCount": 1}, {"succeededIndexes": "0"}])
def test_what_makes_the_server_panic_is_answered(kind, spec, rule):
    outcome = Engine("1.37").workload(make(kind, **spec, successPolicy={"rules": [rule]}))
    assert outcome.code == 500
    assert "closes the connection without an answer" in outcome.status()["message"]


def test_a_schedule_that_is_only_a_zone():
    def answer(version):
        sent = make("CronJob")
        sent["spec"]["schedule"] = "TZ=UTC"
        return Engine(version).workload(sent)

    assert answer("1.34").code == 500
    assert [str(error) for error in answer("1.35").errors] == [
        'spec.schedule: Invalid value: "TZ=UTC": invalid schedule format: runtime error: slice bounds out of range [:-1]',
        'spec.schedule: Invalid value: "TZ=UTC": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ]


@pytest.mark.parametrize("text", ["*/5 * * * *", "@daily", "@every 1h30m", "0 0 1 JAN sun", "1,,3 * ? * *", "*-5 * * * *"])
def test_schedules(text):
    cron.check(text)


@pytest.mark.parametrize(
    "text, words",
    [
        ("-1 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'),
        ("+-1 * * * *", 'failed to parse int from +: strconv.Atoi: parsing "+": invalid syntax'),
        ("*/-1 * * * *", "negative number (-1) not allowed: -1"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("@odd", "unrecognized descriptor: @odd"),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every 5y", 'failed to parse duration @every 5y: time: unknown unit "y" in duration "5y"'),
        ("CRON_TZ=Odd/Zone * * * * *", "provided bad location Odd/Zone: unknown time zone Odd/Zone"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
    ],
)
def test_what_is_no_schedule(text, words):
    with pytest.raises(cron.ScheduleError) as error:
        cron.check(text)
    assert str(error.value) == words


@pytest.mark.parametrize("resource", ["limitranges", "runtimeclasses.node.k8s.io"])
def test_an_update_of_what_is_not_there_creates_some_kinds(resource):
    kind = kinds.BY_RESOURCE[resource]
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "w"}, "handler": "runc"}
    if kind.kind == "LimitRange":
        del body["handler"]
    namespace = "default" if kind.namespaced else ""
    answer = Engine("1.37").answer(Request("update", body=body, name="w", namespace=namespace, resource=resource), None)
    assert (answer.code, len(answer.effects)) == (201, 1)
