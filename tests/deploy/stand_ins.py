"""What `make try-deploying` does instead of commands that need systemd or DNS."""

import re
import signal
import subprocess

from tests.deploy.debian_tree import CommandFailed, DebianTree
from tests.deploy.sandbox import write_filters
from tests.deploy.units import UNITS, options_of

_SYSTEMCTL = re.compile(r"^systemctl (enable|disable|start|stop|restart|reload)(?: --now)? (.+)$", re.MULTILINE)
_CONFINE = "/opt/voting-site/tests/deploy/confine.py"
_STOPS = 60


class Services:
    """The services of a tree: the site's with the user and the filters of their units, nginx as Debian runs it."""

    def __init__(self, tree: DebianTree) -> None:
        self._tree = tree
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._has_nginx = False

    def follow(self, commands: str) -> None:
        """Start and stop what the commands would."""
        for verb, names in _SYSTEMCTL.findall(commands):
            for name in names.split():
                if name == "nginx":
                    self._reload_nginx()
                elif f"{name}.service" in UNITS:
                    if verb in ("disable", "stop", "restart"):
                        self.stop(name)
                    if verb in ("enable", "start", "restart"):
                        self._start(name)

    def stop(self, name: str) -> None:
        """Stop a service. Raises CommandFailed if it had ended before, or does not end well."""
        process = self._running.pop(name, None)
        if process is None:
            return
        was_running = process.poll() is None
        process.terminate()
        status = process.wait(_STOPS)
        if not was_running or status not in (0, -signal.SIGTERM):
            raise CommandFailed(f"{name} ended with {status}:\n{self.log_of(name)}")

    def stop_all(self) -> None:
        """Stop the site's services, the last one first."""
        for name in list(self._running)[::-1]:
            self.stop(name)

    def revive(self) -> None:
        """Start services again that have failed, as their units say."""
        for name, process in self._running.items():
            if process.poll() is not None and process.returncode:
                self._start(name)

    def log_of(self, name: str) -> str:
        path = self._tree.path.with_name(f"{name}.log")
        return path.read_text("utf-8", "replace")[-4000:] if path.exists() else ""

    def _start(self, name: str) -> None:
        every = options_of(f"{name}.service")
        options = {option: values[-1] for option, values in every.items()}
        user = options["User"]
        for option, parent in (("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run")):
            if option in options:
                owner = f"--owner {user} --group {user}"
                self._tree.run(f"install --directory --mode 700 {owner} {parent}/{options[option]}")
        folder = options.get("WorkingDirectory", "/")
        families = write_filters(every, self._tree.path / "srv" / f"{name}.calls")
        command = f"python3 {_CONFINE} /srv/{name}.calls {families} {options['ExecStart']}"
        self._running[name] = self._tree.start(command, f"{name}.log", user=user, folder=folder)

    def _reload_nginx(self) -> None:
        self._tree.run("nginx -s reload" if self._has_nginx else "nginx")
        self._has_nginx = True


def make_certificate(tree: DebianTree, domain: str) -> None:
    """Put a throw-away certificate where certbot would put one. The tree trusts it, and knows the name."""
    with (tree.path / "etc" / "hosts").open("a") as hosts:
        hosts.write(f"127.0.0.1 localhost {domain}\n")
    tree.run(
        f"mkdir -p /etc/letsencrypt/live/{domain}\n"
        f"cd /etc/letsencrypt/live/{domain}\n"
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=try"
        f" -addext subjectAltName=DNS:{domain} -keyout privkey.pem -out fullchain.pem\n"
        "cp fullchain.pem /usr/local/share/ca-certificates/try.crt\n"
        "update-ca-certificates"
    )
