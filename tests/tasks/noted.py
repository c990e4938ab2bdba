"""Tasks that note that they were done, or fail as they are told."""

from django_tasks import task

from tasks import MAIL, GiveUp, NotYet, TryLater

done: list[str] = []
failures: dict[str, Exception] = {}


@task(queue_name=MAIL)
def note(name: str) -> None:
    done.append(name)
    if name in failures:
        raise failures[name]


def fail(name: str, error: Exception | None = None) -> None:
    failures[name] = error or ValueError("odd")


__all__ = ["GiveUp", "NotYet", "TryLater", "done", "fail", "failures", "note"]
