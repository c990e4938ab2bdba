"""The store's servers: memory, whether data survives a failure, and how several of them share the work."""

from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Examination, Finding, error, fine, note, warning
from articles.formatting import units
from articles.repository import FORGETTING, SHARDS_OF_A_CLUSTER

_NEARLY_FULL = 0.9
"""Share of the memory limit."""

_MOST_OF_MEAN = 1.25
"""Shards of one node, as a multiple of the mean."""

_MOST_LAG_SECONDS = 5
"""Seconds since a replica last reported; replicas report every second."""


def check_permissions(examination: Examination) -> Iterator[Finding]:
    denied = [f"`{command}`" for command in examination.denied if command != FORGETTING]
    file = examination.overview.append_only if examination.overview else None
    if FORGETTING in examination.denied and file and file.enabled:
        yield warning(
            _("The store does not permit `BGREWRITEAOF`: its file keeps who viewed what on past days."),
            _("Permit it to the site's user of the store, or rewrite the file once a day."),
        )
    if denied:
        yield note(
            f"The store does not permit {', '.join(denied)}: here and on the operator's page, less is examined.",
            "Give the site's user of the store the rules in `deploy/store.acl`.",
        )


def check_role(examination: Examination) -> Iterator[Finding]:
    if examination.overview and examination.overview.server.is_replica:
        yield error(
            _("The store is a read-only replica: nothing can be changed."),
            _("Connect the site to the primary server, or make this one the primary."),
        )


def check_memory(examination: Examination) -> Iterator[Finding]:
    memory = examination.overview.memory if examination.overview else None
    if memory is None or memory.used is None:
        return
    if memory.limit is None:
        yield fine(f"The store uses {units.size(memory.used)} of memory; it has no limit.")
        return
    sizes = {"used": units.size(memory.used), "limit": units.size(memory.limit)}
    advice = _("Increase `maxmemory`, or the memory of the store's machine.")
    if memory.used >= memory.limit:
        yield error(
            _("The store's memory is full (%(used)s of %(limit)s): no votes are accepted.") % sizes, advice
        )
    elif memory.used >= _NEARLY_FULL * memory.limit:
        yield warning(_("The store's memory is nearly full: %(used)s of %(limit)s.") % sizes, advice)
    else:
        yield fine(f"The store uses {sizes['used']} of {sizes['limit']} of memory.")


def check_evictions(examination: Examination) -> Iterator[Finding]:
    if examination.overview and examination.overview.server.evicted:
        yield error(
            _("The store has deleted keys to free memory: articles or votes may be missing."),
            _("Give it more memory, restore a backup, and restart it."),
        )


def check_persistence(examination: Examination) -> Iterator[Finding]:
    file = examination.overview.append_only if examination.overview else None
    if file is None:
        return
    advice = _("Run `CONFIG SET appendonly yes` on the store, and add the setting to its configuration file.")
    if not file.enabled and examination.has_snapshots is False:
        yield error(_("The append-only file is off: all data is lost when the store stops."), advice)
        return
    if not file.enabled:
        yield warning(
            _("The append-only file is off: writes since the last snapshot are lost when the store fails."),
            advice,
        )
        return
    if not file.last_write_ok:
        yield error(
            _("The last write to the append-only file failed: no changes are accepted."),
            _("Check the disk and the store's log."),
        )
    if not file.last_rewrite_ok:
        yield warning(
            _("The last rewrite of the append-only file failed: the file keeps growing."),
            _("Check the disk and the store's log."),
        )
    if file.last_write_ok and file.last_rewrite_ok:
        yield fine("The append-only file is on and is written.")


def check_sync(examination: Examination) -> Iterator[Finding]:
    if not examination.overview or not examination.overview.append_only.enabled:
        return
    match examination.sync_policy:
        case "no":
            yield warning(
                _(
                    "The system decides when votes reach the disk: a power failure can lose half a minute of "
                    "votes."
                ),
                _("Set `appendfsync` to `everysec` or `always`."),
            )
        case "everysec":
            yield note("Votes reach the disk once a second: a power failure can lose the last second of votes.")
        case "always":
            yield fine("Votes are confirmed when they are on disk.")


def check_shards(examination: Examination) -> Iterator[Finding]:
    if not examination.repository.store.is_cluster:
        return
    count = examination.repository.store.shards.count
    if count < SHARDS_OF_A_CLUSTER:
        yield warning(
            _("The store is a cluster, but has only %(count)s shards: its nodes cannot share the work evenly.")
            % {"count": count},
            _("Restore a backup into an empty cluster with `STORE_SHARDS=%(least)s` or more.")
            % {"least": SHARDS_OF_A_CLUSTER},
        )
    else:
        yield fine(f"The cluster's articles are in {count} shards.")


def check_spread(examination: Examination) -> Iterator[Finding]:
    nodes = examination.nodes
    if not examination.repository.store.is_cluster or not nodes:
        return
    fullest, shards = max(nodes, key=lambda node: len(node.slots)), sum(len(node.slots) for node in nodes)
    excess = max(0, len(fullest.slots) - -(-shards // len(nodes)))
    detail = ", ".join(f"{node.name}: {len(node.slots)}" for node in nodes)
    if excess and len(fullest.slots) > _MOST_OF_MEAN * shards / len(nodes):
        slots = ", ".join(str(slot) for slot in fullest.slots[:excess])
        least = min(nodes, key=lambda node: len(node.slots))
        yield warning(
            _("The node `%(node)s` has %(count)s of %(shards)s shards: it does more than its share of the work.")
            % {"node": fullest.name, "count": len(fullest.slots), "shards": shards},
            _("Move the hash slots %(slots)s to other nodes, starting with `%(least)s`.")
            % {"slots": slots, "least": least.name},
            detail,
        )
    else:
        yield fine(f"The shards are spread over the nodes ({detail}).")


def check_replicas(examination: Examination) -> Iterator[Finding]:
    needed = max(settings.STORE_CONFIRM_REPLICAS, int(settings.STORE_READ_REPLICAS))
    if not needed or examination.nodes is None:
        return
    lacking = [node for node in examination.nodes if node.replicas < needed]
    for node in lacking:
        name = f"`{node.name}`" if node.name else _("The store")
        if node.replicas < settings.STORE_CONFIRM_REPLICAS:
            yield error(
                _(
                    "%(node)s has %(count)s connected replicas, but votes wait for %(needed)s: "
                    "none can be confirmed."
                )
                % {"node": name, "count": node.replicas, "needed": settings.STORE_CONFIRM_REPLICAS},
                _("Start the replicas and check their logs, or lower `STORE_CONFIRM_REPLICAS`."),
            )
        else:
            yield error(
                _("%(node)s has no connected replica, so it serves all lists itself.") % {"node": name},
                _("Start its replica and check its log, or set `STORE_READ_REPLICAS` to `0`."),
            )
    if not lacking:
        yield fine("Every primary has the replicas that the settings need.")


def check_lag(examination: Examination) -> Iterator[Finding]:
    nodes = examination.nodes or ()
    slowest = max((node.lag for node in nodes if node.replicas), default=None)
    if slowest is None:
        return
    if slowest > _MOST_LAG_SECONDS:
        yield warning(
            _("A replica of the store has not reported for %(time)s: it is stuck, or its connection is broken.")
            % {"time": units.moment(slowest)},
            _("Check the replica's machine and its network."),
        )
    else:
        yield fine("The replicas follow the store.")
