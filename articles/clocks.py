"""Whether the clocks agree: the store's own, its machine's, and this machine's."""

from collections.abc import Iterator
from enum import StrEnum

from django.utils.translation import gettext as _

from articles.formatting import units
from articles.repository import Clocks

_APART = 5.0
"""Seconds by which the clocks of two machines may differ."""

_AHEAD = 60.0
"""Seconds by which the store's own clock may be ahead."""

_BEHIND = 86400.0
"""Seconds by which it may be behind: after a stop of the site it is, and catches up."""


class Problem(StrEnum):
    """A disagreement of the clocks."""

    APART = "apart"
    AHEAD = "ahead"
    BEHIND = "behind"


def list_problems(clocks: Clocks) -> Iterator[tuple[Problem, str]]:
    """Yield each disagreement with a sentence for the operator in the active language."""
    apart = abs(clocks.store_machine - clocks.machine)
    ahead = clocks.store - clocks.machine
    if apart > _APART:
        text = _("The clock of the store's machine and this machine's differ by %(time)s: set both by NTP.")
        yield Problem.APART, text % {"time": units.span(apart)}
    if ahead > _AHEAD:
        text = _(
            "This machine's clock has been set back: until it has caught up, voting closes up to %(time)s early. "
            "If it is right now, run “manage.py accept_clock”."
        )
        yield Problem.AHEAD, text % {"time": units.span(ahead)}
    if ahead < -_BEHIND:
        text = _(
            "The site has not run for %(time)s, or this machine's clock has jumped ahead: check it. If it is "
            "right, you don't have to do anything: the voter lists of closed articles are only kept longer, for "
            "the same length of time."
        )
        yield Problem.BEHIND, text % {"time": units.span(-ahead)}
