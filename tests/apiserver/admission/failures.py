"""What the server says when a webhook cannot be called or its answer cannot be used."""

from __future__ import annotations

import base64

from tests.apiserver.admission.hooks import Webhook

NAME = "hook.example.com"
INTERNAL = "Internal error occurred: "
FAILED = f'{INTERNAL}failed calling webhook "{NAME}": '


def post(webhook: Webhook, seconds: int = 10) -> str:
    return f'failed to call webhook: Post "{webhook.url}?timeout={seconds}s": '


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
