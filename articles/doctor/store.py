"""Whether the store answers and is the site's; its memory, its persistence, and how several servers share work."""

from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext as _

from articles.doctor.examination import Examination, Finding, error, fine, note, warning
from articles.formatting import units
from articles.repository import FORGETTING, SHARDS_OF_A_CLUSTER

_ROUND_TRIPS = 10  # round trips for which a page may need the store, within STORE_TIMEOUT_MS each
_NEARLY_FULL = 0.9  # share of the memory limit
_MOST_OF_MEAN = 1.25  # shards of one node, as a multiple of the mean
_MOST_LAG_SECONDS = 5  # seconds since a replica last reported; replicas report every second


def check_answers(examination: Examination) -> Iterator[Finding]:
    if not examination.store_outage:
        server = examination.overview.server if examination.overview else None
        yield fine(f"{f'{server.name} {server.version}' if server else 'The store'} answers.")
    elif not settings.STORE_IS_EMBEDDED:
        yield error(
            "The store does not answer.",
            "Start it, and check `REDIS_URL` and the network between the site and the store.",
            examination.store_outage,
        )


def check_fit(examination: Examination) -> Iterator[Finding]:
    """Check what a start would refuse: a server that does not suit the site, and data that are not the site's."""
    overview, store = examination.overview, examination.stamp
    policy = overview.memory.policy if overview else None
    if policy not in (None, "noeviction"):
        yield error(
            _("The store deletes articles when its memory is full: its `maxmemory-policy` is `%(policy)s`.")
            % {"policy": policy},
            _("Set `maxmemory-policy` to `noeviction`."),
        )
    elif store is None and examination.known_site and examination.misfit:
        yield error(
            _("The store is empty, but this site has used one before."),
            _("Stop the site and restore a backup, or start the store with the right data."),
        )
    elif examination.misfit:
        yield error(_("The site cannot use this store."), "", examination.misfit)
    elif store is None and examination.known_site:
        yield error(
            _("The store has lost the ranking’s parameters."), _("Restart the site, then run `manage.py repair`.")
        )
    elif store is None:
        yield note("The store is empty.", "The first start of the site prepares it.")
    else:
        yield fine(f"The store belongs to this site (layout: {store.layout}, shards: {store.shards}).")


def check_upgrades(examination: Examination) -> Iterator[Finding]:
    if examination.stamp and examination.stamp.pending:
        yield warning(
            _("The store comes from an earlier version and has not been fully upgraded."),
            _("Restart the site, which continues the upgrade."),
            ", ".join(examination.stamp.pending),
        )
    elif examination.stamp:
        yield fine("The store needs no upgrade.")


def check_latency(examination: Examination) -> Iterator[Finding]:
    median = examination.latency.median
    if median * _ROUND_TRIPS * 1000 > settings.STORE_TIMEOUT_MS:
        yield warning(
            _("The store takes %(time)s to answer: pages are slow, and some will fail.")
            % {"time": units.moment(median)},
            _("Move the store closer to the site, or find out what else uses its machine."),
        )
    else:
        yield fine(f"The store answers within {units.moment(median)}.")


def check_permissions(examination: Examination) -> Iterator[Finding]:
    denied = [f"`{command}`" for command in examination.denied if command != FORGETTING]
    file = examination.overview.append_only if examination.overview else None
    if FORGETTING in examination.denied and file and file.enabled:
        yield warning(
            _("The store does not permit `BGREWRITEAOF`: its file keeps who viewed what on past days."),
            _("Permit it to the site’s user of the store, or rewrite the file once a day."),
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
    advice = _("Increase `maxmemory`, or the memory of the store’s machine.")
    if memory.used >= memory.limit:
        yield error(
            _("The store’s memory is full (%(used)s of %(limit)s): no votes are accepted.") % sizes, advice
        )
    elif memory.used >= _NEARLY_FULL * memory.limit:
        yield warning(_("The store’s memory is nearly full: %(used)s of %(limit)s.") % sizes, advice)
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
            _("The append-only file is off: writes since the last snapshot are lost when the store fails."), advice
        )
        return
    if not file.last_write_ok:
        yield error(
            _("The last write to the append-only file failed: no changes are accepted."),
            _("Check the disk and the store’s log."),
        )
    if not file.last_rewrite_ok:
        yield warning(
            _("The last rewrite of the append-only file failed: the file keeps growing."),
            _("Check the disk and the store’s log."),
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
            _("Check the replica’s machine and its network."),
        )
    else:
        yield fine("The replicas follow the store.")
