"""Bodies that somebody might send: nearly right, quite wrong, and cut off; from a seed, so that what fails can be sent again."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from tests.fuzz.mutations import places
from tests.strategy import make
from tests.webhook.reviews import NODE, review

JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**63,
    -(2**80),
    1e308,
    "",
    "x",
    "\x00",
    "é" * 50,
    "\u2028",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": None},
    {"name": None},
    {"x": {"y": [1, "z"]}},
    "9" * 400,
)
KEYS = ("name", "type", "spec", "status", "containers", "conditions", "observedGeneration", "generation", "annotations", "x", "")

STATUS = {
    "observedGeneration": 1,
    "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}],
    "containerStatuses": [
        {
            "name": "c",
            "ready": True,
            "restartCount": 0,
            "image": "i",
            "imageID": "",
            "allocatedResourcesStatus": [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "g", "health": "Healthy"}]}],
        }
    ],
}
POD = make.pod(
    nodeName="n1",
    hostUsers=False,
    volumes=[{"name": "v", "image": {"reference": "r"}}, {"name": "w", "emptyDir": {"sizeLimit": "1Gi"}}],
    containers=[
        {
            "name": "c",
            "image": "i",
            "lifecycle": {"stopSignal": "SIGTERM"},
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "securityContext": {"procMount": "Unmasked"},
        }
    ],
)
SEEDS = (
    review(POD),
    review(make.pod(), make.pod(hostname="h"), user=NODE),
    review({**POD, "status": STATUS}, {**POD, "status": STATUS}, "status", NODE),
    review({**POD, "status": {}}, {**POD, "status": STATUS}, "status", {"username": "eve"}),
    review(POD, POD, "resize"),
    review(POD, POD, "ephemeralcontainers"),
)


def body(number: int) -> bytes:
    """The body of this number."""
    dice = random.Random(number)
    value = copy.deepcopy(dice.choice(SEEDS))
    for _ in range(dice.choice((0, 1, 1, 1, 2, 3, 8))):
        every = places(value)
        if not every:
            break
        holder, step = dice.choice(every)
        what = dice.randrange(5)
        if what == 0:
            del holder[step]
        elif what == 1:
            holder[step] = copy.deepcopy(holder[dice.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))])
        elif what == 2 and isinstance(holder, dict):
            holder[dice.choice(KEYS)] = copy.deepcopy(dice.choice(JUNK))
        else:
            holder[step] = copy.deepcopy(dice.choice(JUNK))
    text = json.dumps(value).encode()
    return _spoilt(text, dice) if dice.random() < 0.25 else text


def _spoilt(text: bytes, dice: random.Random) -> bytes:
    what = dice.randrange(6)
    if what == 0:
        return text[: dice.randrange(len(text) + 1)]
    if what == 1:
        at = dice.randrange(len(text))
        return text[:at] + bytes([dice.randrange(256)]) + text[at + 1 :]
    if what == 2:
        depth = dice.choice((10, 190, 250, 5000))
        return text.replace(b'"i"', b"[" * depth + b"]" * depth, 1)
    if what == 3:
        return text.replace(b'"name"', b'"name": 1, "name"', 1)
    if what == 4:
        return text.replace(b'"i"', b'"\\ud800"', 1)
    return dice.randbytes(dice.randrange(200))
