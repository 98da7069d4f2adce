"""The forms of responses."""

from __future__ import annotations

import pytest

from podstrat.apiserver import accept as accepting
from podstrat.apiserver.negotiation import JSON, PROTOBUF, YAML
from podstrat.strategy import errors

META = "g=meta.k8s.io"


@pytest.mark.parametrize(
    "accept, form",
    [
        pytest.param("", accepting.Form(), id="nothing"),
        pytest.param("*/*", accepting.Form(), id="anything"),
        pytest.param("application/json;charset=utf-8", accepting.Form(), id="charset"),
        pytest.param(YAML, accepting.Form(YAML), id="yaml"),
        pytest.param(f"{YAML},{JSON}", accepting.Form(YAML), id="the-first"),
        pytest.param(f"{YAML};q=0.5,{JSON};q=0.9", accepting.Form(), id="by-quality"),
        pytest.param("application/cbor,application/json;q=0.9", accepting.Form(), id="the-first-that-is-offered"),
        pytest.param("application/*,application/json", accepting.Form(), id="a-wildcard-beside-another"),
        pytest.param(f"{JSON};as=Table;v=v1;{META}", accepting.Form(JSON, "Table"), id="table"),
        pytest.param(f"{JSON};as=Table;v=v1beta1;{META}", accepting.Form(JSON, "Table", "v1beta1"), id="older-table"),
        pytest.param(f"{YAML};as=Table;v=v1;{META}", accepting.Form(YAML, "Table"), id="yaml-table"),
        pytest.param(f"{JSON};as=Table;v=v9;{META},{JSON}", accepting.Form(), id="the-next-one"),
        pytest.param(
            f"{PROTOBUF};as=Table;v=v1;{META},{JSON};as=Table;v=v1;{META}", accepting.Form(JSON, "Table"), id="protobuf"
        ),
        pytest.param(
            f"{JSON};as=PartialObjectMetadataList;v=v1;{META}", accepting.Form(JSON, "PartialObjectMetadataList"), id="partial"
        ),
    ],
)
def test_the_form_of_a_response(accept: str, form: accepting.Form) -> None:
    assert accepting.form(accept, "", streams=True) == form


AVAILABLE = (
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
)
ACCEPTED = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"


@pytest.mark.parametrize(
    "accept, message, details",
    [
        pytest.param("text/html", AVAILABLE, {}, id="html"),
        pytest.param("application/*", AVAILABLE, {}, id="wildcard-of-a-type"),
        pytest.param("APPLICATION/JSON", AVAILABLE, {}, id="capitals"),
        pytest.param(f"{JSON};as=Odd;v=v1;{META}", ACCEPTED, None, id="unknown-transformation"),
        pytest.param(f"{JSON};as=Table;v=v9;{META}", ACCEPTED, None, id="unknown-version"),
        pytest.param(f"{JSON};as=Table;v=v1", ACCEPTED, None, id="no-group"),
        pytest.param(f"{JSON};stream=watch", ACCEPTED, None, id="a-stream-of-one-object"),
    ],
)
def test_no_form_is_acceptable(accept: str, message: str, details: object) -> None:
    with pytest.raises(errors.NotAcceptable) as refused:
        accepting.form(accept, "", streams=False)
    assert (refused.value.message, refused.value.details) == (message, details)


@pytest.mark.parametrize(
    "accept, media",
    [
        pytest.param("", JSON, id="nothing"),
        pytest.param(YAML, YAML, id="yaml"),
        pytest.param(f"{YAML};as=Table;v=v1;{META}", JSON, id="a-transformation-alone"),
        pytest.param(f"{JSON};as=Table;v=v1;{META},{YAML}", YAML, id="the-first-without-one"),
        pytest.param("text/html", JSON, id="not-offered"),
    ],
)
def test_the_media_type_of_errors(accept: str, media: str) -> None:
    assert accepting.error_media(accept) == media
