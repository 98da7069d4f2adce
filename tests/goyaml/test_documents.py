"""Files as kubectl reads them, bodies as the API server reads them."""

from __future__ import annotations

import pytest

from podstrat import goyaml


def values(text: str | bytes) -> list[object]:
    return [document.value for document in goyaml.documents(text)]


KYAML = """\
---
{
  apiVersion: "v1",
  kind: "Pod",  # a comment
  metadata: {
    name: "p",
    labels: {
      "y": "no",
    },
  },
  spec: {
    containers: [{
      name: "c",
      args: [
        "a",
      ],
    }],
  },
}
"""


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("", [], id="empty"),
        pytest.param("# nothing\n", [], id="comment"),
        pytest.param("---\n---\n\n---\n", [], id="separators-only"),
        pytest.param("a: 1", [{"a": 1}], id="no-line-break-at-the-end"),
        pytest.param("a: |\n  x", [{"a": "x\n"}], id="kubectl-ends-the-last-line"),
        pytest.param("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="two"),
        pytest.param("---\na: 1\n--- # second\nb: 2\n", [{"a": 1}, {"b": 2}], id="comment-after-separator"),
        pytest.param("a: 1\n---\nnull\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="null-document"),
        pytest.param("a: 1\n...\nb: 2\n---\nc: 3\n", [{"a": 1}, {"c": 3}], id="text-after-the-end-is-not-read"),
        pytest.param("a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1}, {"b": "x\ny\n"}], id="crlf"),
        pytest.param("\ufeffa: 1\n", [{"a": 1}], id="byte-order-mark"),
        pytest.param("\ufeff---\na: 1\n---\n\ufeffb: 1", [{"a": 1}, {"b": 1}], id="two-byte-order-marks"),
        pytest.param("- 1\n- a\n", [[1, "a"]], id="sequence"),
        pytest.param("word", ["word"], id="scalar"),
        pytest.param(
            KYAML,
            [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "p", "labels": {"y": "no"}},
                    "spec": {"containers": [{"name": "c", "args": ["a"]}]},
                }
            ],
            id="kyaml",
        ),
        pytest.param('{"a": 1}', [{"a": 1}], id="json"),
        pytest.param('\n {"a": "\\/\\ud83d\\ude00"}\n', [{"a": "/😀"}], id="json-escapes"),
        pytest.param('{"a": "\\ud83d", "b": "\\\\ud83d"}', [{"a": "\ufffd", "b": "\\ud83d"}], id="json-half-a-pair"),
        pytest.param('{"a": 1.0, "b": 1e2, "c": -0, "d": 0.5}', [{"a": 1, "b": 100, "c": 0, "d": 0.5}], id="json-numbers"),
        pytest.param('{"a": 18446744073709551616}', [{"a": 18446744073709552000}], id="json-large-number"),
        pytest.param('{"a": 1}{"b": 2}\n{"c": 3} null []', [{"a": 1}, {"b": 2}, {"c": 3}, []], id="json-stream"),
        pytest.param('{"a": 1}\n---\n{"b": 2}\n---\nc: 3\n', [{"a": 1}, {"b": 2}, {"c": 3}], id="json-and-yaml"),
        pytest.param("{a: 1}\n---\n{b: NaN}", [{"a": 1}, {"b": "NaN"}], id="flow-mapping-is-no-json"),
        pytest.param('{"a": 1, "b": }', [{"a": 1, "b": None}], id="no-value-is-yaml"),
        pytest.param('{"a": NaN}', [{"a": "NaN"}], id="nan-is-yaml"),
        pytest.param('{"a": 1, "a": 2}', [{"a": 2}], id="json-last-one-wins"),
        pytest.param('{"a":\t1}', [{"a": 1}], id="json-with-tabs"),
        pytest.param('{"' + "k" * 2000 + '": 1}', [{"k" * 2000: 1}], id="json-long-key"),
    ],
)
def test_documents(parser: str, text: str, want: list[object]) -> None:
    assert values(text) == want
    assert values(text.encode()) == want
    assert values(text.encode("utf-16")) == want


def test_names_lines_and_numbers() -> None:
    text = "# c\n---\na: 1\n---\n---\n# d\n\nb: 2\n---\nc: [\n---\nd: 4\n"
    stream = goyaml.documents(text, "x.yaml")
    first, second = next(stream), next(stream)
    assert [(each.index, each.line, each.name) for each in (first, second)] == [(0, 3, "x.yaml"), (1, 8, "x.yaml")]
    with pytest.raises(goyaml.YamlError) as caught:
        next(stream)
    assert (caught.value.line, caught.value.name) == (10, "x.yaml")
    assert str(caught.value) == "x.yaml:10:5: did not find expected node content"
    fourth = next(stream)
    assert (fourth.value, fourth.index, fourth.line) == ({"d": 4}, 3, 12)
    assert list(stream) == []


@pytest.mark.parametrize(
    "text, message, line, column",
    [
        pytest.param("a: 1\n--- b\nc: 1\n", "invalid Yaml document separator: b", 2, 1, id="text-after-separator"),
        pytest.param("a: 1\n----\n", "invalid Yaml document separator: -", 2, 1, id="four-dashes"),
        pytest.param("a: 'x", "found unexpected end of stream", 1, 6, id="open-quote"),
        pytest.param("a: 1\nb: c: d\n", "mapping values are not allowed in this context", 2, 5, id="two-colons"),
        pytest.param("a:\n\tb: 2\n", "found character that cannot start any token", 2, 1, id="tab"),
        pytest.param("a: 1\n\tb: 2\n", "found a tab character that violates indentation", 2, 1, id="tab-in-a-plain-scalar"),
        pytest.param("a: x\0y", "control characters are not allowed (U+0000)", 1, 5, id="nul"),
        pytest.param("a: 1\nb: \x07", "control characters are not allowed (U+0007)", 2, 4, id="bell"),
        pytest.param("a: \ud800", "control characters are not allowed (U+D800)", 1, 4, id="surrogate"),
        pytest.param(b"a: 1\nb: caf\xe9\n", "not valid UTF-8: invalid continuation byte", 2, 7, id="latin-1"),
        pytest.param(b'{"a": "caf\xe9"}\n', "not valid UTF-8: invalid continuation byte", 1, 11, id="json-in-latin-1"),
        pytest.param(b"\xff\xfea\0:\0 \0\0\xd8", "not valid UTF-16: unexpected end of data", 1, 4, id="broken-utf-16"),
        pytest.param('{"a": "\\/",\n "b": oops}', "json: Expecting value", 2, 7, id="json-gets-further"),
        pytest.param('{a: 1,\n b: "\\q"}', "found unknown escape character", 2, 6, id="yaml-gets-further"),
        pytest.param('{"a": 1} {"b": 2} {"c": oops}', "json: Expecting value", 1, 25, id="json-after-two-objects"),
        pytest.param('{"a": 1e999}', "json: unsupported value: +Inf", 1, 1, id="json-number-too-large"),
    ],
)
def test_refused(text: str | bytes, message: str, line: int, column: int) -> None:
    with pytest.raises(goyaml.YamlError) as caught:
        values(text)
    assert (caught.value.message, caught.value.line, caught.value.column) == (message, line, column)


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("", None, id="empty"),
        pytest.param("a: |\n  x", {"a": "x"}, id="the-last-line-is-not-ended"),
        pytest.param("--- a", "a", id="content-after-separator"),
        pytest.param("a: 1\n---\nb: [", {"a": 1}, id="first-document-only"),
        pytest.param("---\n---\na: 1", None, id="first-document-is-null"),
        pytest.param("a: 1\rb: 2\r", {"a": 1, "b": 2}, id="carriage-returns"),
        pytest.param("a: 1\u2028b: 2", {"a": 1, "b": 2}, id="line-separator"),
        pytest.param('{"a": 1}', {"a": 1}, id="json"),
    ],
)
def test_load(parser: str, text: str, want: object) -> None:
    assert goyaml.load(text).value == want


def test_json_body_is_read_as_yaml(parser: str) -> None:
    with pytest.raises(goyaml.YamlError) as caught:
        goyaml.load(r'{"a": "\/"}', "body")
    assert caught.value.name == "body"


def test_the_rest_of_a_file() -> None:
    """A piece that begins with a separator, somewhere in a YAML file: lines count on, and braces do not make it JSON."""
    rest = goyaml.documents("---\n{a: 1}\n---\nb: 2\n", "x.yaml", line=10)
    assert [(each.value, each.line, each.index) for each in rest] == [({"a": 1}, 11, 0), ({"b": 2}, 13, 1)]
    assert rest.count == 2


def test_documents_with_errors_count() -> None:
    stream = goyaml.documents("a: [\n---\nb: 1\n")
    with pytest.raises(goyaml.YamlError):
        next(stream)
    assert (next(stream).index, stream.count) == (1, 2)
