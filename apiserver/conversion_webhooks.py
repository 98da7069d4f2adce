"""Conversion webhooks of definitions: objects are sent to them, and come back in another version."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from podstrat.apiserver.admission import calling
from podstrat.apiserver.admission.calling import Caller
from podstrat.apiserver.requests import new_uid
from podstrat.strategy.crds.conversion import REVIEW_VERSIONS, ConversionFailed

Object = dict[str, Any]

SECONDS = 30
"""As the API server waits for a conversion webhook."""


class ConversionWebhooks:
    """Calls the conversion webhooks of one server; ``caller`` gives the client of webhooks when the first one is called."""

    def __init__(self, caller: Callable[[], Caller]) -> None:
        self._caller = caller

    def convert(self, definition: Object, obj: Object, desired: str) -> Object:
        """An object in the version that is wanted; ConversionFailed with the bare words.

        Upstream: webhookConverter.Convert
        """
        webhook = definition["spec"]["conversion"]["webhook"]
        version = next(each for each in webhook["conversionReviewVersions"] if each in REVIEW_VERSIONS)
        request = {"uid": new_uid(), "desiredAPIVersion": desired, "objects": [obj]}
        review = {"kind": "ConversionReview", "apiVersion": f"apiextensions.k8s.io/{version}", "request": request}
        try:
            end = calling.endpoint(webhook["clientConfig"])
            answer = self._caller().post(end, json.dumps(review).encode(), SECONDS)
        except (calling.Unreached, calling.NoClient) as error:
            raise ConversionFailed(str(error)) from None
        return _converted(answer, request, obj, desired)


def _converted(answer: bytes, request: Object, obj: Object, version: str) -> Object:
    try:
        response = json.loads(answer)["response"]
        uid, result, objects = response["uid"], response["result"], response.get("convertedObjects") or []
        status = result["status"]
    except (ValueError, KeyError, TypeError):
        raise ConversionFailed("the response is not a ConversionReview") from None
    if uid != request["uid"]:
        raise ConversionFailed(f'expected response.uid="{request["uid"]}", got "{uid}"')
    if status != "Success":
        raise ConversionFailed(str(result.get("message") or "the webhook gave no reason"))
    if len(objects) != 1:
        raise ConversionFailed(f"webhook returned {len(objects)} objects, expected 1")
    converted = objects[0]
    if not isinstance(converted, dict) or converted.get("apiVersion") != version or converted.get("kind") != obj["kind"]:
        raise ConversionFailed(f"returned object is not of version {version} and kind {obj['kind']}")
    return {**converted, "metadata": _restored(converted.get("metadata"), obj["metadata"])}


def _restored(metadata: Any, before: Object) -> Object:
    """Of the metadata a webhook may change labels and annotations only.

    Upstream: restoreObjectMeta
    """
    answer = metadata if isinstance(metadata, dict) else {}
    before_only = {key: value for key, value in before.items() if key not in ("labels", "annotations")}
    return before_only | {key: answer[key] for key in ("labels", "annotations") if answer.get(key)}
