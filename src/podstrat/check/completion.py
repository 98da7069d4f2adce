"""Completion for a shell: `source <(podstrat completion bash)`, or for zsh and fish; `kubectl` is for the plugin.

bash      source <(podstrat completion bash)                        in ~/.bashrc
zsh       source <(podstrat completion zsh)                         in ~/.zshrc
fish      podstrat completion fish > ~/.config/fish/completions/podstrat.fish
kubectl   podstrat completion kubectl > ~/bin/kubectl_complete-podstrat; chmod +x ~/bin/kubectl_complete-podstrat
"""

from __future__ import annotations

import argparse
import importlib
import shlex
from collections.abc import Iterator

from podstrat import cli, exits
from podstrat.records import NamedTuple

SHELLS = ("bash", "zsh", "fish", "kubectl")

# What options take whose parsers leave it open.
VALUES = {
    "--pod-security": ("baseline", "restricted"),
    "--kubernetes-version": ("1.34", "1.35", "1.36", "1.37"),
    "--output": ("text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "status"),
}


class Option(NamedTuple):
    """One option of a command: its spellings, what it takes, and its help."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    takes: bool
    help: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="target shell")


def run(args: argparse.Namespace) -> int:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish, "kubectl": _kubectl}[args.shell]
    print("\n".join(script()))
    return exits.OK


def options() -> dict[str, list[Option]]:
    """The options of each command, as its own parser has them. A command whose packages are not installed has none."""
    return {name: list(_of_command(command.module)) for name, command in cli.COMMANDS.items()}


def _of_command(module: str) -> Iterator[Option]:
    try:
        command = importlib.import_module(module)
    except ImportError:
        return
    parser = argparse.ArgumentParser(add_help=False)
    command.arguments(parser)
    for action in parser._actions:
        if action.option_strings:
            long = action.option_strings[-1]
            values = tuple(map(str, action.choices)) if action.choices else VALUES.get(long, ())
            yield Option(tuple(action.option_strings), values, action.nargs != 0, (action.help or "").partition(" (")[0])


def _cases(indent: str) -> Iterator[str]:
    """The shell's case for each command: its options, and the values of those that have a choice."""
    for name, flags in options().items():
        words = " ".join(spelling for option in flags for spelling in option.names)
        yield f"{indent}{name})"
        yield f"{indent}  options={shlex.quote(words)}"
        yield f'{indent}  case "$previous" in'
        for option in flags:
            if option.values:
                yield f"{indent}    {'|'.join(option.names)}) values={shlex.quote(' '.join(option.values))} ;;"
        yield f"{indent}  esac ;;"


def _bash() -> Iterator[str]:
    yield "_podstrat() {"
    yield '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" options="" values=""'
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W {shlex.quote(" ".join(cli.COMMANDS) + " --help --version")} -- "$current"))'
    yield "    return"
    yield "  fi"
    yield '  case "${COMP_WORDS[1]}" in'
    yield from _cases("    ")
    yield "  esac"
    yield '  if [ -n "$values" ]; then'
    yield '    COMPREPLY=($(compgen -W "$values" -- "$current"))'
    yield '  elif [[ "$current" == -* ]]; then'
    yield '    COMPREPLY=($(compgen -W "$options --help" -- "$current"))'
    yield "  else"
    yield "    local IFS=$'\\n'"  # names of files may have blanks in them
    yield '    COMPREPLY=($(compgen -f -- "$current"))'
    yield "  fi"
    yield "}"
    yield "complete -o filenames -F _podstrat podstrat"


def _zsh() -> Iterator[str]:
    """The same functions, through zsh's own bridge."""
    yield "autoload -Uz bashcompinit && bashcompinit"
    yield from _bash()


def _fish() -> Iterator[str]:
    yield "complete -c podstrat -n __fish_use_subcommand -f"
    for name, command in cli.COMMANDS.items():
        yield f"complete -c podstrat -n __fish_use_subcommand -a {name} -d {shlex.quote(command.help)}"
    for name, flags in options().items():
        for option in flags:
            words = [f"complete -c podstrat -n '__fish_seen_subcommand_from {name}'"]
            words += [f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in option.names]
            if option.values:
                words.append(f"-x -a {shlex.quote(' '.join(option.values))}")
            elif option.takes:
                words.append("-r")
            words.append(f"-d {shlex.quote(option.help)}")
            yield " ".join(words)


def _kubectl() -> Iterator[str]:
    """What kubectl runs to complete `kubectl podstrat`: a choice a line, then :0, which offers files where there are none."""
    yield "#!/bin/sh"
    yield "# kubectl_complete-podstrat: completion of `kubectl podstrat`, called by kubectl"
    yield 'command="$1" previous="" current=""'
    yield 'for word in "$@"; do previous="$current" current="$word"; done'
    yield 'options="" values=""'
    yield 'if [ "$#" -le 1 ]; then'
    yield f"  values={shlex.quote(' '.join(cli.COMMANDS))}"
    yield "else"
    yield '  case "$command" in'
    yield from _cases("    ")
    yield "  esac"
    yield "fi"
    yield 'case "$current" in -*) values="${values:-$options}" ;; esac'
    yield 'for value in $values; do case "$value" in "$current"*) echo "$value" ;; esac; done'
    yield "echo :0"
