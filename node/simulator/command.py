"""The driver-sim command: a simulated DRA driver, device plugin or both, scripted in simulator.options.LANGUAGE."""

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

from podstrat.kubeclient import errors, kubeconfig
from podstrat.node.drivers.protocols import calls, streams
from podstrat.node.model import HEALTHY, UNHEALTHY, UNKNOWN, Reading
from podstrat.node.runtime.clock import BootClock, Clock
from podstrat.node.server.client import ApiClient
from podstrat.node.simulator import cdi, slices
from podstrat.node.simulator.driver import DevicePlugin, DraDriver, Failure, Simulated
from podstrat.node.simulator.options import LANGUAGE, arguments

OK, USAGE = 0, 2
STREAMS = {"v1": streams.V1, "v1alpha1": streams.V1ALPHA1, "newer": streams.NEWER, "older": streams.OLDER}


def run(args: argparse.Namespace) -> int:
    if not args.driver and not args.resource:
        print("driver-sim: specify --driver, --resource, or both", file=sys.stderr)
        return USAGE
    with sys.stdin if args.script == "-" else open(args.script, encoding="utf-8") as script:
        try:
            asyncio.run(_run(args, script))
        except errors.ConfigError as error:
            print(f"driver-sim: {error}", file=sys.stderr)
            return USAGE
    return OK


async def _run(args: argparse.Namespace, script: TextIO) -> None:
    clock = BootClock()
    api = ApiClient(kubeconfig.load(args.kubeconfig, args.context, in_cluster_first=True), clock) if _has_server(args) else None
    simulation = Simulation(args, clock, api)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, simulation.stopped.set)
    try:
        await simulation.play(_lines(script), functools.partial(print, flush=True))
    finally:
        if api is not None:
            await api.close()


def _has_server(args: argparse.Namespace) -> bool:
    return args.kubeconfig is not None or "KUBERNETES_SERVICE_HOST" in os.environ


async def _lines(script: TextIO) -> AsyncIterator[str]:
    """The lines of a file, or of whatever else as they come; without a thread, which could not be stopped while it waits."""
    if not _can_be_polled(script):
        for line in script:
            yield line
        return
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), script)
    async for text in reader:
        yield text.decode()


def _can_be_polled(script: TextIO) -> bool:
    """Pipes, sockets and terminals can; files and /dev/null, which services have as standard input, are never waited for."""
    mode = os.fstat(script.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or script.isatty()


class Simulation:
    def __init__(self, args: argparse.Namespace, clock: Clock, api: ApiClient | None = None) -> None:
        self.args = args
        self.clock = clock
        self.stopped = asyncio.Event()
        self.silent = False
        self.rolled = 0
        self.drivers: list[Simulated] = []
        self.specs = cdi.Folder(args.cdi_dir) if args.cdi_dir else None
        self.api = api
        if args.driver:
            self.drivers.append(self._dra([Reading(args.pool, f"gpu-{i}", HEALTHY) for i in range(args.devices)]))
        if args.resource:
            self.drivers.append(self._plugin([Reading("", f"gpu-{i}", HEALTHY) for i in range(args.devices)]))

    async def play(self, lines: AsyncIterator[str], say: Callable[[str], None]) -> None:
        """Plays the lines, then stays as things are until it is stopped."""
        for driver in self.drivers:
            await self._start(driver)
        say("ready")
        work = [asyncio.ensure_future(each) for each in (self._refresh(), self._read(lines, say), self._keep_registered())]
        if self.api is not None and self.args.driver:
            work.append(asyncio.ensure_future(self._publisher(self.api).run()))
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
            return f"unknown command: {word}"
        try:
            await act(rest[0].strip() if rest else "")
        except (ValueError, KeyError) as error:
            return f"{word}: {error}"
        return None

    async def _do_health(self, rest: str) -> None:
        pattern, health, *message = rest.split(maxsplit=2)
        if health not in (HEALTHY, UNHEALTHY, UNKNOWN):
            raise ValueError(f"invalid health {health!r}: must be Healthy, Unhealthy or Unknown")
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
            raise ValueError(f"invalid kind {kind!r}: must be permanent or transient")
        for driver in self.drivers:
            if isinstance(driver, DraDriver):
                driver.failures[uid] = Failure(error, kind == "permanent")

    async def _do_mend(self, rest: str) -> None:
        for driver in self.drivers:
            if isinstance(driver, DraDriver):
                driver.failures.pop(rest, None)

    async def _do_roll(self, _: str) -> None:
        self.rolled += 1
        for i, old in enumerate(self.drivers):
            make = self._dra if isinstance(old, DraDriver) else self._plugin
            self.drivers[i] = new = make(list(old.devices.values()), instance=str(self.rolled))
            if isinstance(old, DraDriver) and isinstance(new, DraDriver):
                new.prepared |= old.prepared
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

    async def _start(self, driver: Simulated) -> None:
        """Starts a driver; a device plugin waits for the kubelet that it registers with."""
        while True:
            try:
                await driver.start()
                return
            except calls.CallFailed:
                await driver.stop()
                await self.clock.sleep(1.0)

    async def _keep_registered(self) -> None:
        """The device plugin of the moment registers again after a restart of the kubelet: `roll` replaces it."""
        while True:
            plugins = [each for each in self.drivers if isinstance(each, DevicePlugin)]
            keeping = [asyncio.ensure_future(each.keep_registered()) for each in plugins]
            try:
                while plugins == [each for each in self.drivers if isinstance(each, DevicePlugin)]:
                    await self.clock.sleep(1.0)
            finally:
                for task in keeping:
                    task.cancel()

    def _publisher(self, api: ApiClient) -> slices.Publisher:
        args = self.args
        return slices.Publisher(api, args.node or args.pool, args.driver, args.pool, self._dra_devices, self.clock)

    def _dra_devices(self) -> list[str]:
        return [name for driver in self.drivers if isinstance(driver, DraDriver) for name in driver.devices]

    def _plugin(self, devices: list[Reading], instance: str = "") -> DevicePlugin:
        return DevicePlugin(self.args.root, self.args.resource, devices, instance=instance, specs=self.specs, clock=self.clock)

    def _dra(self, devices: list[Reading], instance: str = "") -> DraDriver:
        args = self.args
        return DraDriver(
            args.root,
            args.driver,
            devices,
            pool=args.pool,
            instance=instance,
            prepares=args.prepares,
            health=[STREAMS[name] for name in args.health],
            api=self.api,
            specs=self.specs,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=LANGUAGE, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    sys.exit(run(parser.parse_args()))
