"""What expressions compute: operators, functions of every library, errors of evaluation."""

import pytest

from podstrat.cel import DYN, Environment, EvaluationError, Optional

POD = {
    "metadata": {"name": "p", "labels": {"app": "y", "a.b/c": "z"}},
    "spec": {"containers": [{"name": "c", "image": "busybox:1"}, {"name": "d", "image": "nginx"}], "replicas": 3, "ratio": 0.5},
}
ENVIRONMENT = Environment({"object": DYN, "null_object": DYN})


def value(expression):
    return ENVIRONMENT.compile(expression).evaluate({"object": POD, "null_object": None})


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7.0 / 2.0", 3.5),
        ("object.spec.replicas == 3.0", True),
        ("object.spec.replicas < 3.5", True),
        ("dyn(true) == 1", False),
        ("[1, 2] == [1, 2] && {'a': [1]} == {'a': [1]}", True),
        ("object.metadata.labels['a.b/c']", "z"),
        ("'app' in object.metadata.labels", True),
        ("has(object.spec.hostPID)", False),
        ("object.spec.containers.map(c, c.name).join('+')", "c+d"),
        ("object.spec.containers.filter(c, c.image.contains(':')).size()", 1),
        ("object.spec.containers.exists(c, c.image == 'nginx')", True),
        ("object.spec.containers.all(c, has(c.image))", True),
        ("object.spec.containers.exists_one(c, c.name == 'c')", True),
        ("object.spec.containers.all(i, c, i < 2)", True),
        ("[1, 2].transformList(i, v, v > 1, i + v)", [3]),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("object.?spec.?nodeName.orValue('none')", "none"),
        ("object.metadata.?labels[?'app'].value()", "y"),
        ("optional.of(2).optMap(x, x + 1).value()", 3),
        ("[1, ?optional.none(), 2]", [1, 2]),
        ("string(1.0) + ' ' + string(1e21) + ' ' + string(123456789.0) + ' ' + string(0.00001)", "1 1e+21 1.23456789e+08 1e-05"),
        ("int('12') + int(3.9) + int(duration('5ns'))", 20),
        ("string(duration('1h30m'))", "5400s"),
        ("string(timestamp('2024-02-29T12:00:00.5+01:00'))", "2024-02-29T11:00:00.5Z"),
        ("timestamp('2024-02-29T12:00:00Z').getDayOfYear()", 59),
        ("timestamp('2024-02-29T23:00:00Z').getDate('Europe/Berlin')", 1),
        ("timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')", True),
        ("type(object.spec) == map && type(1u) == uint", True),
        ("'hello'.substring(1, 3) + 'abc'.charAt(3) + ' x '.trim()", "elx"),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'a-b-a'.replace('a', 'x', 1)", "x-b-a"),
        ("'%s %d %.1f'.format([['a', 1.5], 3, 12345.67])", '["a", 1.500000] 3 12,345.7'),
        ("'%e %x %b'.format([12345.6, 'hi', true])", "1.234560×10⁰⁴ 6869 1"),
        ("'abc 123 45'.find('([0-9])+') + '|' + 'abc 123 45'.findAll('[0-9]+').join(',')", "123|123,45"),
        ("'aaa'.matches('^(a+)+$')", True),
        ("[3, 1, 2].sort() + [1, 1].distinct() + [[1], [2]].flatten() + lists.range(2)", [1, 2, 3, 1, 1, 2, 0, 1]),
        ("object.spec.containers.sortBy(c, c.image).map(c, c.name)", ["c", "d"]),
        ("[3, 1].min() + [3, 1].max() + [1, 2].sum()", 7),
        ("sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])", True),
        ("quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').sub(quantity('250m')) == quantity('750m')", True),
        ("quantity('1.5Gi').asApproximateFloat()", 1610612736.0),
        ("ip('::1').family() + ip('10.0.0.1').family()", 10),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", True),
        ("string(cidr('192.168.1.5/24').masked())", "192.168.1.0/24"),
        ("url('https://u@example.com:8080/a%20b?x=1').getHostname() + url('https://[::1]:80/').getHost()", "example.com[::1]:80"),
        ("isURL('/path') && !isURL('x') && !isURL('a b')", True),
        ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && isSemver('v1', true) && !isSemver('v1')", True),
        ("format.dns1123Label().validate('ok').hasValue() || format.named('nothing').hasValue()", False),
        ("true || object.nothing", True),
        ("object.nothing || true", True),
        ("[0, 2].exists(x, 4 / x == 2)", True),
        ("null_object == null", True),
    ],
)  # fmt: skip
def test_value(expression, expected):
    assert value(expression) == expected


@pytest.mark.parametrize(
    "expression, message",
    [
        ("object.spec.nodeName", "no such key: nodeName"),
        ("null_object.x", "no such key: x"),
        ("object.spec.containers[7]", "index out of bounds: 7"),
        ("int(object.metadata.name)", "type conversion error from 'string' to 'int'"),
        ("1 / (object.spec.replicas - 3)", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("9223372036854775807 + object.spec.replicas", "integer overflow"),
        ("object.metadata.name + object.spec.replicas", "no such overload"),
        ("[0].all(x, 1 / x > 0)", "division by zero"),
        ("optional.none().value()", "optional.none() dereference"),
        ("quantity('1X')", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("'abc'.matches(object.metadata.name + '(')", "error parsing regexp: missing closing ): `p(`"),
        ("'%d'.format([dyn('a')])", "error during formatting: decimal clause can only be used on integers, was given string"),
    ],
)  # fmt: skip
def test_error_of_evaluation(expression, message):
    with pytest.raises(EvaluationError) as caught:
        value(expression)
    assert str(caught.value) == message


def test_optional_results_are_values():
    assert value("object.?spec.?replicas") == Optional(True, 3)
    assert not value("object.?spec.?other").present
