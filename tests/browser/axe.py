"""axe-core in a window: the accessibility problems of a page.

The source is evaluated through the browser's debugger, which bypasses the page's content security policy;
the policy still applies to the page itself.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page as Window

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]

_RUN = """async options => {
    const found = await axe.run(document, options);
    return found.violations.flatMap(rule => rule.nodes.map(node => ({
        rule: rule.id, at: node.target.join(' '), html: node.html.slice(0, 160),
        why: [...node.any, ...node.all, ...node.none].map(check => check.message).join('; '),
    })));
}"""


@cache
def source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def load(window: Window) -> None:
    window.evaluate(source())


def violations(window: Window) -> list[str]:
    """Return one line for each element and the rule it breaks. Call `load` first."""
    options: dict[str, Any] = {
        "resultTypes": ["violations"],
        "runOnly": {"type": "tag", "values": RULES},
        "rules": {"target-size": {"enabled": True}, "label-content-name-mismatch": {"enabled": True}},
    }
    found = window.evaluate(_RUN, options)
    return [f"{one['rule']}: {one['at']}: {one['why']} – {one['html']}" for one in found]
