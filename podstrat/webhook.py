"""The admission webhook: what the API server does not do to pods by itself, or did not in older releases.

It listens with TLS for the API server (/mutate, /validate) and on a plain port for Prometheus and for probes (/metrics, /readyz).
Every setting can stand in a file (--config, YAML), in the environment (PODSTRAT_WEBHOOK__NAME) and on the command line; a flag
wins over the environment, that over the file. `podstrat webhook --print-config` shows what is in force, where it comes from, and
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
from webhook import decisions, settings

GROUPS = (("where", "host"), ("how much", "workers"), ("certificates", "certificates"), ("what", "server_version"))
"""The headings of the help, each before the setting that it begins with."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "podstrat webhook [--config FILE] [--print-config] [--SETTING VALUE]...\n"
        "       podstrat webhook install|status|uninstall|lint ..."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings as YAML")
    parser.add_argument("--print-config", action="store_true", help="show the settings in force, and end")
    headings = {name: heading for heading, name in GROUPS}
    group = parser.add_argument_group("settings")
    for name, field in settings.Settings.model_fields.items():
        if name in headings:
            group = parser.add_argument_group(headings[name])
        default = field.get_default(call_default_factory=True)
        shown = "" if default in (None, "", (), {}) else f" (default {_text(default)})"
        help_text = f"{field.description}{shown}".replace("%", "%%")
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
        sys.stdout.write(settings.show(loaded) + decisions.show(loaded.settings))
        return exits.OK
    try:
        from webhook import serving
    except ModuleNotFoundError as error:
        raise exits.BadArguments(f"{error.name} is missing: pip install 'podstrat[webhook]'") from None
    try:
        serving.serve(loaded.settings, __version__)
    except serving.NotStarted as error:
        raise exits.BadArguments(str(error)) from None
    return exits.OK
