"""The table of all checks, and how they are run. `settings.STORE_CHECKS` and `doctor.py` of an extra have more."""

from collections.abc import Container
from importlib import import_module

from django.conf import settings as site

from articles.doctor import database, housekeeping, machine, mail, proxy, settings, store
from articles.doctor.examination import Check, Examination, Finding, Result
from articles.domain import extras

_STORE = (lambda examination: not examination.store_outage,)
_DATABASE = (lambda examination: examination.database_answers,)

_OWN = (
    Check("settings", "debug", settings.check_debug),
    Check("settings", "rate limits", settings.check_rate_limits),
    Check("settings", "address", settings.check_address),
    Check("settings", "proxy", settings.check_proxy),
    Check("settings", "hosts", settings.check_hosts),
    Check("settings", "cache", settings.check_cache),
    Check("settings", "reading", settings.check_reading),
    Check("settings", "sign-up", settings.check_sign_up, _DATABASE, slow=True),
    Check("settings", "choices", settings.check_choices, _DATABASE, slow=True),
    Check("settings", "deployment", settings.check_deployment, slow=True),
    Check("files", "data directory", machine.check_data_directory),
    Check("files", "secret key", machine.check_secret_key),
    Check("files", "accounts", machine.check_accounts_file),
    Check("files", "env", machine.check_env_file),
    Check("files", "owner", machine.check_owner),
    Check("database", "answers", database.check_answers, slow=True),
    Check("database", "migrations", database.check_migrations, _DATABASE, slow=True),
    Check("database", "extras", database.check_extras, _DATABASE, slow=True),
    Check("database", "integrity", database.check_integrity, _DATABASE, slow=True),
    Check("database", "server settings", database.check_server_settings, _DATABASE, slow=True),
    Check("database", "age", database.check_age, (*_DATABASE, *_STORE), slow=True),
    Check("store", "answers", store.check_answers, slow=True),
    Check("store", "permissions", store.check_permissions, _STORE),
    Check("store", "fit", store.check_fit, _STORE),
    Check("store", "upgrades", store.check_upgrades, _STORE),
    Check("store", "role", store.check_role, _STORE),
    Check("store", "memory", store.check_memory, _STORE),
    Check("store", "evictions", store.check_evictions, _STORE),
    Check("store", "persistence", store.check_persistence, _STORE),
    Check("store", "sync", store.check_sync, _STORE),
    Check("store", "latency", store.check_latency, _STORE),
    Check("store", "shards", store.check_shards, _STORE),
    Check("store", "spread", store.check_spread, _STORE),
    Check("store", "replicas", store.check_replicas, _STORE),
    Check("store", "replica lag", store.check_lag, _STORE),
    Check("housekeeping", "runs", housekeeping.check_runs, _STORE),
    Check("housekeeping", "steps", housekeeping.check_steps, _STORE),
    Check("housekeeping", "tasks", housekeeping.check_tasks, _DATABASE),
    Check("housekeeping", "hot list", housekeeping.check_hot_list, _STORE),
    Check("clocks", "clocks", housekeeping.check_clocks, _STORE),
    Check("mail", "backend", mail.check_backend),
    Check("mail", "server", mail.check_server, slow=True),
    Check("sign-in", "ways", settings.check_ways, slow=True),
    Check("proxy", "request", proxy.check_request, slow=True),
    Check("disk", "space", machine.check_space),
    Check("memory", "web server", machine.check_memory),
    Check("backups", "age", housekeeping.check_age_of_backup),
    Check("limits", "open files", machine.check_open_files),
)

_OTHERS: list[Check] = [
    one for name in (site.STORE_CHECKS, *extras.modules("doctor")) for one in import_module(name).CHECKS
]

SECTIONS = tuple(dict.fromkeys(check.section for check in (*_OWN, *_OTHERS)))

CHECKS = sorted((*_OWN, *_OTHERS), key=lambda check: SECTIONS.index(check.section))


def examine(examination: Examination, skipped: Container[str] = ()) -> list[Result]:
    """Run all checks, except those of the skipped sections. Raises nothing."""
    return [
        result
        for check in CHECKS
        if check.section not in skipped and all(is_there(examination) for is_there in check.needs)
        for result in check.results(examination)
    ]


def list_urgent(examination: Examination) -> list[Finding]:
    """Run the checks that are quick enough for a page; return what needs attention, the worst first."""
    results = (result for check in CHECKS if not check.slow for result in check.results(examination))
    findings = [result.finding for result in results if result.finding.level.needs_attention]
    return sorted(findings, key=lambda finding: -finding.level)
