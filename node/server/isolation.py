"""Isolation of refused entries: one invalid health entry makes the server refuse a whole status patch (422).

The causes of the 422 usually name the entry by its field path. Where they do not, each entry is tried alone by a dry run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from podstrat.node.model import Plan
from podstrat.node.status import patch
from podstrat.node.status.patch import RefusedEntry

MOST_TRIED = 32
"""Entries tried one by one: each try is a request, and pods with more claims and resources are not known."""

DryRun = Callable[[frozenset[RefusedEntry]], Awaitable[bool]]
"""Whether the server refuses the patch without these entries."""


async def refused_entries(
    plan: Plan, causes: Iterable[str], refused: frozenset[RefusedEntry], is_refused: DryRun
) -> set[RefusedEntry]:
    """The entries to exclude besides the known ones; empty: the refusal is about something else."""
    suspects = patch.refused_by(causes, plan.patch, plan.pod)
    return (suspects or await _tried(plan, refused, is_refused)) - refused


async def _tried(plan: Plan, refused: frozenset[RefusedEntry], is_refused: DryRun) -> set[RefusedEntry]:
    every = patch.entries_of(plan.patch, plan.pod)
    if not every or await is_refused(refused | every):
        return set()
    return {each for each in sorted(every)[:MOST_TRIED] if await is_refused(refused | (every - {each}))}
