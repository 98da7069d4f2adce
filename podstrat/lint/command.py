"""Lint."""
from __future__ import annotations
import argparse
def arguments(parser: argparse.ArgumentParser) -> None: ...
def run(args: argparse.Namespace) -> int: return 0
