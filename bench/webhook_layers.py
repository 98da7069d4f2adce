"""What each layer of the webhook costs for one review: processor time of one thread, on recorded bytes.

    python -m bench.webhook_layers [--reviews 300] [--rounds 15] [--phase mutate]

Every layer works on all reviews in its turn; the figure is the least of the rounds. A review that passes through all of them is
dearer than their sum: each finds the caches as the one before has left them. What the kernel, the selector and the change of
threads cost is not here: `python -m bench.webhook` has the processor time of a whole server.
Layers in brackets are alternatives that a review does not pass through.
"""

from __future__ import annotations

import argparse
import os
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

# Instead of this folder, whose files are called like the rooms that they measure.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench import webhook  # noqa: E402
from podstrat.webhook import metrics, plain_request, settings, warmup  # noqa: E402
from podstrat.webhook.app import make  # noqa: E402
from podstrat.webhook.chain import Chain, ReviewResult  # noqa: E402
from podstrat.webhook.framing import Framer  # noqa: E402
from podstrat.webhook.handler import BODY_LIMIT, Handler, Reply  # noqa: E402
from podstrat.webhook.limiter import Limiter  # noqa: E402
from podstrat.webhook.plain_request import PlainRequest  # noqa: E402
from podstrat.webhook.probes import Probes  # noqa: E402
from podstrat.webhook.review import Request, answer  # noqa: E402

WHOLE = "more than that, one after the other"


class Layer(NamedTuple):
    """One line of the table."""

    name: str
    microseconds: float
    of_a_review: bool = True
    """False for an alternative."""


class Reviews(NamedTuple):
    """The same reviews as each layer gets them."""

    sent: list[bytes]
    """As they come from TLS."""
    plain: list[PlainRequest]
    values: list[Any]
    requests: list[Request]
    results: list[ReviewResult]
    answers: list[bytes]
    """As they go to TLS."""


class Contestant(NamedTuple):
    """The webhook without its server."""

    chain: Chain
    limiter: Limiter
    metrics: metrics.Metrics
    application: Any
    """By WSGI."""


def contestant(flags: Sequence[str]) -> Contestant:
    named = dict(zip((flag[2:].replace("-", "_") for flag in flags[::2]), flags[1::2], strict=True))
    loaded = settings.load({}, named).settings
    chain, limiter, counts = Chain(loaded), Limiter(loaded.concurrency, loaded.waiting), metrics.Metrics("bench")
    warmup.warm(chain)
    app = make(Handler(chain, limiter, counts, loaded.patience_seconds), Probes({}))
    return Contestant(chain, limiter, counts, app.wsgi_app)


class Constant(Handler):
    """Answers every review with the same."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def handle(self, environ: dict[str, Any]) -> Reply:
        return self._reply


def reviews(made: Contestant, phase: Any, bodies: Sequence[bytes]) -> Reviews:
    head = f"POST /{phase}?timeout=5s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    sent = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]
    plain = [each for request in sent if (each := plain_request.parse(request)) is not None]
    values = [orjson.loads(body) for body in bodies]
    requests = [Request.model_validate(value["request"]) for value in values]
    results = [made.chain.review(phase, request) for request in requests]
    answers = [plain_request.respond(made.application, each.environ(None), True) for each in plain]
    assert len(answers) == len(sent)
    assert all(b" 200 OK" in each[:20] for each in answers)
    return Reviews(sent, plain, values, requests, results, answers)


# ---- the clock -------------------------------------------------------------------------------------


def least(rounds: int, works: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The least of each, in turn. A work tells the seconds that it took."""
    found = {name: work() for name, work in works.items()}
    for _ in range(rounds):
        for name, work in works.items():
            found[name] = min(found[name], work())
    return found


def timed(function: Callable[[Any], Any], inputs: Sequence[Any]) -> Callable[[], float]:
    def work() -> float:
        began = time.thread_time()
        for each in inputs:
            function(each)
        return (time.thread_time() - began) / len(inputs)

    return work


# ---- TLS -------------------------------------------------------------------------------------------


class Tls:
    """Both ends of a connection, whose bytes meet in memory."""

    def __init__(self, folder: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self._up, self._down = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._server = context.wrap_bio(self._up, self._down, server_side=True)
        trusting = ssl.create_default_context(cafile=folder / "ca.crt")
        self._client = trusting.wrap_bio(self._down, self._up, server_hostname="localhost")
        for _ in range(2):
            for end in (self._client, self._server):
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    continue

    def read(self, requests: Sequence[bytes]) -> float:
        """Seconds in which the server decrypts a request."""
        taken = 0.0
        for request in requests:
            self._client.write(request)
            began, size = time.thread_time(), 0
            while size < len(request):
                size += len(self._server.read(65536))
            taken += time.thread_time() - began
        return taken / len(requests)

    def write(self, answers: Sequence[bytes]) -> float:
        """Seconds in which the server encrypts an answer."""
        taken = 0.0
        for answer_ in answers:
            began = time.thread_time()
            self._server.write(answer_)
            taken += time.thread_time() - began
            self._client.read(65536)
        return taken / len(answers)


# ---- HTTP ------------------------------------------------------------------------------------------


def framed(request: bytes) -> None:
    buffer = bytearray(request)
    assert Framer(BODY_LIMIT).end(buffer) == len(request)


def parsed_by_gunicorn() -> Callable[[bytes], None]:
    from gunicorn.config import Config
    from gunicorn.http import get_parser

    config = Config()

    def parse(request: bytes) -> None:
        found = next(get_parser(config, iter([request]), ("127.0.0.1", 1)))
        found.body.read()

    return parse


def started(status: str, headers: Any, exc_info: Any = None) -> None:
    """A start_response that throws away what it is told."""


def by_flask(flask: Any) -> Callable[[PlainRequest], None]:
    more = {"SERVER_NAME": "localhost", "SERVER_PORT": "443", "wsgi.url_scheme": "https", "SERVER_PROTOCOL": "HTTP/1.1"}

    def call(request: PlainRequest) -> None:
        answered = flask(request.environ(None) | more, started)
        b"".join(answered)
        answered.close()

    return call


def counting(made: Contestant, phase: Any) -> Callable[[tuple[Request, ReviewResult]], None]:
    def count(reviewed: tuple[Request, ReviewResult]) -> None:
        made.limiter.acquire(1.0)
        made.metrics.reviewed(phase, *reviewed, 0.001)
        made.limiter.release()

    return count


# ---- the table -------------------------------------------------------------------------------------


def layers(made: Contestant, given: Reviews, phase: Any, tls: Tls, rounds: int) -> list[Layer]:
    constant = make(Constant(Reply(200, answer(given.results[0].response))), Probes({})).wsgi_app
    counted = list(zip(given.requests, given.results, strict=True))
    works: dict[str, Callable[[], float]] = {
        "TLS: decrypt the request": lambda: tls.read(given.sent),
        "TLS: encrypt the answer": lambda: tls.write(given.answers),
        "HTTP: find the end of the request": timed(framed, given.sent),
        "HTTP: parse it": timed(plain_request.parse, given.sent),
        "JSON: read the review (orjson)": timed(lambda each: orjson.loads(each.body), given.plain),
        "JSON: check its envelope (pydantic)": timed(lambda each: Request.model_validate(each["request"]), given.values),
        "JSON: write the answer (pydantic)": timed(lambda each: answer(each.response), given.results),
        "dispatch: WSGI, head of the answer": timed(
            lambda each: plain_request.respond(constant, each.environ(None), True), given.plain
        ),
        "dispatch: limits, counters": timed(counting(made, phase), counted),
        "the concerns": timed(lambda each: made.chain.review(phase, each), given.requests),
    }
    whole = timed(lambda each: plain_request.respond(made.application, each.environ(None), True), given.plain)
    alternatives = {
        "HTTP: gunicorn's parser": timed(parsed_by_gunicorn(), given.sent),
        "dispatch: Flask's": timed(by_flask(constant._application), given.plain),  # type: ignore[attr-defined]
    }
    found = least(rounds, {**works, WHOLE: whole, **alternatives})
    inner = sum(found[name] for name in works if name.startswith(("JSON", "dispatch", "the concerns")))
    rows = [Layer(name, found[name] * 1e6) for name in works]
    rows.append(Layer(WHOLE, max(found[WHOLE] - inner, 0.0) * 1e6))
    return rows + [Layer(name, found[name] * 1e6, of_a_review=False) for name in alternatives]


def table(rows: Sequence[Layer]) -> str:
    inside = [row for row in rows if row.of_a_review]
    lines = [f"| {row.name} | {row.microseconds:.0f} |" for row in inside]
    lines.append(f"| all of them | {sum(row.microseconds for row in inside):.0f} |")
    lines += [f"| ({row.name}) | ({row.microseconds:.0f}) |" for row in rows if not row.of_a_review]
    return "\n".join(["| layer | µs of processor time |", "|---|---:|", *lines])


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=300, help="how many distinct reviews (default 300)")
    parser.add_argument("--rounds", type=int, default=15, help="how many rounds (default 15)")
    phases = [each.name for each in webhook.CONTESTANTS]
    parser.add_argument("--phase", choices=phases, action="append", help="which endpoint (default: every one)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    args = arguments(argv)
    with tempfile.TemporaryDirectory(prefix="podstrat-bench-") as temporary:
        folder = Path(temporary)
        webhook.certificates(folder)
        counted = folder / "metrics"
        counted.mkdir()
        metrics.use_folder(counted)
        for each in webhook.CONTESTANTS:
            if args.phase and each.name not in args.phase:
                continue
            made = contestant(each.flags)
            given = reviews(made, each.name, each.bodies(args.reviews))
            size = sum(map(len, given.sent)) // len(given.sent)
            print(f"{each.path}: {args.reviews} distinct reviews of {size} bytes; load {os.getloadavg()[0]:.1f}\n")
            print(table(layers(made, given, each.name, Tls(folder), args.rounds)), end="\n\n")


if __name__ == "__main__":
    main()
