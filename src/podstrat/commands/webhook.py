"""Run the admission webhook.

It serves /mutate and /validate over TLS for the API server, and /metrics, /livez and /readyz over plain HTTP on the admin port.
Settings come from a YAML file (--config), environment variables (PODSTRAT_WEBHOOK__NAME) and flags; flags override the
environment, which overrides the file. `podstrat webhook --print-config` shows the effective settings, the source of each, and
why each concern is on or off.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Literal, get_args, get_origin

from podstrat import __version__, exits
from podstrat.install import actions
from podstrat.webhook import activation, settings

GROUPS = (("listen", "host"), ("limits", "workers"), ("certificates", "certificates"), ("behaviour", "server_version"))
"""Groups of the help, each with its first setting."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "podstrat webhook [--config FILE] [--print-config] [--SETTING VALUE]...\n"
        "       podstrat webhook install|status|uninstall|lint ..."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (YAML)")
    parser.add_argument("--print-config", action="store_true", help="print the effective settings and exit")
    headings = {name: heading for heading, name in GROUPS}
    group = parser.add_argument_group("settings")
    for name, field in settings.Settings.model_fields.items():
        if name in headings:
            group = parser.add_argument_group(headings[name])
        default = field.get_default(call_default_factory=True)
        suffix = "" if default in (None, "", (), {}) else f" (default {_text(default)})"
        help_text = f"{field.description}{suffix}".replace("%", "%%")
        metavar = (
            "|".join(get_args(field.annotation)) if get_origin(field.annotation) is Literal else name.rpartition("_")[2].upper()
        )
        group.add_argument(f"--{name.replace('_', '-')}", default=argparse.SUPPRESS, metavar=metavar, help=help_text)
    actions.add(parser)


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def run(args: argparse.Namespace) -> int:
    if args.action:
        return actions.run(args)
    flags = {name: value for name, value in vars(args).items() if name in settings.Settings.model_fields}
    try:
        loaded = settings.load(os.environ, flags, args.config)
    except settings.SettingsError as error:
        raise exits.BadArguments(str(error)) from None
    if args.print_config:
        sys.stdout.write(settings.show(loaded) + activation.show(loaded.settings))
        return exits.OK
    try:
        from podstrat.webhook import serving
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is not installed: pip install 'podstrat[webhook]'") from None
    try:
        serving.serve(loaded.settings, __version__)
    except serving.NotStarted as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK
