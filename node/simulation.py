"""A simulated driver for demos and tests: a DRA driver, a device plugin or both, told what to do (node.options.LANGUAGE)."""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import functools
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from typing import TextIO

from node.clock import BootClock, Clock
from node.options import LANGUAGE, arguments
from node.protocols import streams
from node.reports import HEALTHY, UNHEALTHY, UNKNOWN, Reading
from node.simulator import DevicePlugin, DraDriver, Failure, Simulated

OK, USAGE = 0, 2
STREAMS = {"v1": streams.V1, "v1alpha1": streams.V1ALPHA1, "newer": streams.NEWER, "older": streams.OLDER}


def run(args: argparse.Namespace) -> int:
    if not args.driver and not args.resource:
        print("it has to be something: --driver NAME, --resource NAME or both", file=sys.stderr)
        return USAGE
    with sys.stdin if args.script == "-" else open(args.script, encoding="utf-8") as script:
        asyncio.run(_run(args, script))
    return OK


async def _run(args: argparse.Namespace, script: TextIO) -> None:
    simulation = Simulation(args, BootClock())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, simulation.stopped.set)
    await simulation.play(_lines(script), functools.partial(print, flush=True))


async def _lines(script: TextIO) -> AsyncIterator[str]:
    """The lines of a file, or of whatever else as they come; without a thread, which nobody could end while it waits for one."""
    if stat.S_ISREG(os.fstat(script.fileno()).st_mode):
        for line in script:
            yield line
        return
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), script)
    async for text in reader:
        yield text.decode()


class Simulation:
    def __init__(self, args: argparse.Namespace, clock: Clock) -> None:
        self.args = args
        self.clock = clock
        self.stopped = asyncio.Event()
        self.silent = False
        self.rolled = 0
        self.drivers: list[Simulated] = []
        if args.driver:
            self.drivers.append(self._dra([Reading(args.pool, f"gpu-{i}", HEALTHY) for i in range(args.devices)]))
        if args.resource:
            self.drivers.append(DevicePlugin(args.root, args.resource, args.devices))

    async def play(self, lines: AsyncIterator[str], say: Callable[[str], None]) -> None:
        """Plays the lines, then stays as things are until it is stopped."""
        for driver in self.drivers:
            await driver.start()
        say("ready")
        work = [asyncio.ensure_future(each) for each in (self._refresh(), self._read(lines, say))]
        await self.stopped.wait()
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for driver in self.drivers:
            await driver.stop()

    async def _read(self, lines: AsyncIterator[str], say: Callable[[str], None]) -> None:
        async for line in lines:
            if line.strip() and not line.startswith("#"):
                say(await self.do(line) or "ok")

    async def _refresh(self) -> None:
        while True:
            await self.clock.sleep(self.args.refresh)
            self._tell()

    async def do(self, line: str) -> str | None:
        """One line; what is wrong with it, if something is."""
        word, *rest = line.split(maxsplit=1)
        act = getattr(self, f"_do_{word}", None)
        if act is None:
            return f"unknown: {word}"
        try:
            await act(rest[0].strip() if rest else "")
        except (ValueError, KeyError) as error:
            return f"{word}: {error}"
        return None

    async def _do_health(self, rest: str) -> None:
        pattern, health, *message = rest.split(maxsplit=2)
        if health not in (HEALTHY, UNHEALTHY, UNKNOWN):
            raise ValueError(f"{health} is no health")
        self._change(pattern, lambda reading: reading._replace(health=health, message=message[0] if message else ""))

    async def _do_timeout(self, rest: str) -> None:
        pattern, seconds = rest.split()
        self._change(pattern, lambda reading: reading._replace(timeout=int(seconds)))

    async def _do_add(self, rest: str) -> None:
        for driver in self.drivers:
            pool = driver.pool if isinstance(driver, DraDriver) else ""
            driver.devices.update({name: Reading(pool, name, HEALTHY) for name in rest.split()})
        self._tell()

    async def _do_remove(self, rest: str) -> None:
        for driver in self.drivers:
            for name in rest.split():
                del driver.devices[name]
        self._tell()

    async def _do_tell(self, _: str) -> None:
        self._tell()

    async def _do_quiet(self, _: str) -> None:
        self.silent = True

    async def _do_speak(self, _: str) -> None:
        self.silent = False
        self._tell()

    async def _do_end(self, _: str) -> None:
        for driver in self.drivers:
            driver.end_streams()

    async def _do_hang(self, rest: str) -> None:
        for driver in self.drivers:
            driver.trouble[rest] = "hang"

    async def _do_answer(self, rest: str) -> None:
        for driver in self.drivers:
            driver.trouble.pop(rest, None)

    async def _do_fail(self, rest: str) -> None:
        uid, kind, error = rest.split(maxsplit=2)
        if kind not in ("permanent", "transient"):
            raise ValueError(f"{kind} is neither permanent nor transient")
        for driver in self.drivers:
            if isinstance(driver, DraDriver):
                driver.failures[uid] = Failure(error, kind == "permanent")

    async def _do_mend(self, rest: str) -> None:
        for driver in self.drivers:
            if isinstance(driver, DraDriver):
                driver.failures.pop(rest, None)

    async def _do_roll(self, _: str) -> None:
        for i, old in enumerate(self.drivers):
            if isinstance(old, DraDriver):
                self.rolled += 1
                self.drivers[i] = new = self._dra(list(old.devices.values()), instance=str(self.rolled))
                await new.start()
                await new.audience.until(1)
                await old.stop()

    async def _do_wait(self, rest: str) -> None:
        await self.clock.sleep(float(rest))

    async def _do_stop(self, _: str) -> None:
        self.stopped.set()

    async def _do_crash(self, _: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def _change(self, pattern: str, change: Callable[[Reading], Reading]) -> None:
        for driver in self.drivers:
            for name in fnmatch.filter(driver.devices, pattern):
                driver.devices[name] = change(driver.devices[name])
        self._tell()

    def _tell(self) -> None:
        if not self.silent:
            for driver in self.drivers:
                driver.tell()

    def _dra(self, devices: list[Reading], instance: str = "") -> DraDriver:
        args = self.args
        health = [STREAMS[name] for name in args.health]
        return DraDriver(
            args.root, args.driver, devices, pool=args.pool, instance=instance, prepares=args.prepares, health=health
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=LANGUAGE, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    sys.exit(run(parser.parse_args()))
