"""Makes docs/findings.md: the ids of findings, which suppressions and baselines name.

    python -m tools.make_findings

Paths are those of the recorded refusals of real API servers, so the list is long and not complete: an id is the type of a finding
and its path without indices, whatever the rule.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from podstrat.check import references, report
from podstrat.check.outputs.sarif import RULES
from podstrat.check.report import Finding
from tests.conformance.recorded import recordings

FILE = Path(__file__).resolve().parent.parent / "docs" / "findings.md"
HEAD = """\
# Ids of findings

Made by `make findings`. An id names what is wrong and where, without indices: the type of the finding, a colon, and the path
as the server spells it, `FieldValueInvalid:spec.containers.ports.containerPort`. `podstrat check --verbose` and the JSON
report show the id of each finding; [check.md](check.md#suppressions-and-baseline) says how to suppress one. It does not
change when lines or items move, nor with the wording of a message.

Pods are listed here; in a workload the path begins where its template is:
`spec.template.spec.containers.ports.containerPort`. The paths are those for which answers of real API servers were recorded;
others follow the same form. What an admission plugin refuses or warns about has the name of the plugin instead of a type:
`PodSecurity:spec.containers.securityContext.privileged`, `ResourceQuota:spec.containers`.
"""


def ids() -> dict[str, set[str]]:
    """By type the ids of every recorded cause."""
    found: dict[str, set[str]] = defaultdict(set)
    for recording in recordings():
        for case in recording.cases():
            for want in case["want"]:
                body = want.get("body")
                details = body.get("details") if isinstance(body, dict) else None
                for cause in (details or {}).get("causes") or () if want.get("code") == 422 else ():
                    finding = Finding(cause.get("reason", ""), cause.get("field", ""), None, "", "", 1, 1)
                    if finding.type in RULES and "[" not in finding.id:
                        found[finding.type].add(finding.id)
    return found


def hint_ids() -> dict[str, set[str]]:
    """By type the ids of hints about references."""
    named = [f"spec.{path}" for path in references.IN_PODS] + [path for table in references.IN_OTHERS.values() for path in table]
    found = {report.MISSING_REFERENCE: {Finding(report.MISSING_REFERENCE, _plain(path), None, "", "", 1, 1).id for path in named}}
    for name in (report.SERVICE_SELECTS_NOTHING, report.BUDGET_COVERS_NOTHING):
        found[name] = {f"{name}:spec.selector"}
    return found


def _plain(path: str) -> str:
    return path.replace("[*]", "[0]")


def page() -> str:
    found = ids() | hint_ids()
    parts = [HEAD]
    for name, words in RULES.items():
        parts.append(f"## {name}\n\n{words}.\n")
        if name in found:
            parts.append("".join(f"- `{each}`\n" for each in sorted(found[name])))
        elif name not in ("YamlError", "UnusedSuppression", "Warning"):
            parts.append(f"`{name}:PATH`\n")
        else:
            parts.append(f"`{name}`{', or `Warning:PATH` where the warning names a field' if name == 'Warning' else ''}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    FILE.write_text(page())
