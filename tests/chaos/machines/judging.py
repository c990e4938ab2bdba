"""What is compared at the end of a fault on several machines: histories, what the store holds, and the counts."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from articles.repository import Repository
from tests.chaos.histories.counts import Counts
from tests.chaos.histories.operations import Register, read_history
from tests.chaos.histories.verdict import Start, Verdict, judge
from tests.chaos.ledger import Ledger, choices_in


def counts_in(repository: Repository, articles: Iterable[int]) -> dict[int, Counts]:
    """Return the votes and opposes of each article."""
    stored = repository.articles.get_many(sorted(articles))
    return {article.id: (article.votes, article.opposes) for article in stored}


def start_of(repository: Repository, articles: Iterable[int]) -> Start:
    """Return what the store holds of these articles, before anyone but their posters has voted."""
    stored = repository.articles.get_many(sorted(articles))
    posters = [Register(article.poster, article.id) for article in stored]
    choices = dict(zip(posters, choices_in(repository, posters), strict=True))
    return Start(choices, counts_in(repository, articles))


def judge_run(repository: Repository, ledger: Ledger, histories: Sequence[Path], start: Start) -> Verdict:
    """Return what of an ended run cannot be explained."""
    operations = list(ledger.operations())
    for history in histories:
        operations += read_history(history)
    registers = sorted({operation.register for operation in operations})
    held = dict(zip(registers, choices_in(repository, registers), strict=True))
    counts = counts_in(repository, {register.article for register in registers})
    return judge(operations, held=held, counts=counts, start=start, may_undo=True)
