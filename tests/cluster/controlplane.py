"""A control plane of one minor: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

On the loopback interface, with ports, keys and data of its own. It runs everything that a plain
cluster does except the node lifecycle, which the fake kubelet answers for unless it is asked for.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.certificates import Authority, new_authority, signing_key
from tests.cluster.client import Client, Object, Refused
from tests.cluster.emitted import COMPONENTS, ROOT, Flags
from tests.cluster.processes import Program, free_ports, wait_for

HOST = "127.0.0.1"
BUILT = Path(os.environ.get("DRACFG_CONTROL_PLANES") or ROOT / ".cache" / "control-plane")
START_SECONDS = 120

ADMIN, SCHEDULER, CONTROLLERS = "admin", "system:kube-scheduler", "system:kube-controller-manager"
USERS: Mapping[str, tuple[str, ...]] = {
    ADMIN: ("system:masters",),
    SCHEDULER: (),
    CONTROLLERS: (),
    "nobody": (),
}
"""User → groups, each with a token of its own. `nobody` may do nothing."""


def built_minors() -> list[str]:
    """The minors that build.sh has finished, less what DRACFG_CLUSTER_MINORS leaves out."""
    found = {stamp.parent.name for stamp in BUILT.glob("1.*/stamp")}
    wanted = os.environ.get("DRACFG_CLUSTER_MINORS")
    kept = found if wanted is None else found & set(wanted.replace(",", " ").split())
    return sorted(kept, key=lambda minor: int(minor.partition(".")[2]))


def reason_to_skip() -> str | None:
    """Why no control plane can run here."""
    if missing := [name for name in ("etcd", "openssl") if shutil.which(name) is None]:
        return f"{' and '.join(missing)} not installed"
    if not built_minors():
        return f"no control plane in {BUILT}: run `make control-plane MINOR=1.36`"
    return None


@dataclass
class ControlPlane:
    """A running control plane. `admin` may do everything; `kubeconfig` gives files for programs."""

    minor: str
    folder: Path
    port: int
    authority: Authority
    tokens: Mapping[str, str]
    programs: dict[str, Program] = field(default_factory=dict)

    @property
    def server(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    @property
    def kubectl(self) -> Path:
        return BUILT / self.minor / "kubectl"

    @property
    def admin(self) -> Client:
        return self.client(ADMIN)

    def client(self, user: str) -> Client:
        """For one of USERS; `admin.as_user` impersonates anyone else."""
        return Client(HOST, self.port, self.authority.pair.certificate, self.tokens[user])

    def kubeconfig(self, user: str = ADMIN) -> Path:
        return self.kubeconfig_of(user, {"token": self.tokens[user]})

    def kubeconfig_of(self, name: str, credentials: Mapping[str, str]) -> Path:
        """A file with these credentials, as the `user` of a kubeconfig has them."""
        certificate = str(self.authority.pair.certificate)
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "local",
                    "cluster": {"server": self.server, "certificate-authority": certificate},
                }
            ],
            "users": [{"name": name, "user": dict(credentials)}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": name}}],
            "current-context": "local",
        }
        file = self.folder / f"{name.replace(':', '-')}.kubeconfig"
        file.write_text(json.dumps(content), encoding="utf-8")
        return file

    def check(self) -> None:
        """Raises Ended where one of the programs is gone."""
        for program in self.programs.values():
            program.check()

    def restart(self, component: str) -> None:
        """Ends a program and starts it again as it was; ready where it is the API server."""
        program = self.programs[component]
        program.stop()
        self.programs[component] = Program(self.folder, program.command)
        if component == "kube-apiserver":
            wait_for(lambda: _is_ready(self), "a ready kube-apiserver", START_SECONDS)

    def stop(self) -> None:
        for name in reversed(self.programs):
            self.programs[name].stop()


def start(
    minor: str,
    folder: Path,
    flags: Flags | None = None,
    audit_policy: Path | None = None,
    components: Sequence[str] = COMPONENTS,
    scheduler_config: Mapping[str, object] | None = None,
    *,
    node_lifecycle: bool = False,
) -> ControlPlane:
    """A ready control plane in an empty folder. Raises Ended, with the log, where one won't start.

    `flags` go to the components as they are, after those that the harness needs. `components`
    may leave out the scheduler and the controllers. `scheduler_config` becomes the
    KubeSchedulerConfiguration, less its clientConnection. `node_lifecycle` is for kubelets that
    renew their leases: nodes that fall silent are found out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    client_port, peer_port, port = free_ports(3)
    tokens = {user: secrets.token_hex(16) for user in USERS}
    plane = ControlPlane(minor, folder, port, new_authority(folder / "pki"), tokens)
    given = flags or {}
    try:
        plane.programs["etcd"] = _etcd(folder, client_port, peer_port)
        etcd = f"http://{HOST}:{client_port}"
        command = _api_server(plane, etcd, audit_policy)
        _launch(plane, "kube-apiserver", command, given)
        wait_for(lambda: _is_ready(plane), "a ready kube-apiserver", START_SECONDS)
        for component in components:
            if component == "kube-scheduler":
                _launch(plane, component, _scheduler(plane, scheduler_config or {}), given)
            elif component == "kube-controller-manager":
                _launch(plane, component, _controllers(plane, node_lifecycle), given)
        if "kube-controller-manager" in components:
            wait_for(lambda: _has_account(plane), "the controllers", START_SECONDS)
        plane.check()
    except BaseException:
        plane.stop()
        raise
    return plane


def launch_until_ended(plane: ControlPlane, flags: Flags, component: str) -> Program:
    """Starts a component a second time with other flags; for flags that it must refuse."""
    folder = plane.folder / f"refused-{secrets.token_hex(4)}"
    folder.mkdir()
    port = f"--secure-port={free_ports(1)[0] if component == 'kube-apiserver' else 0}"
    command = [part for part in plane.programs[component].command if "-port=" not in part]
    return Program(folder, [*command, port, *flags.get(component, ())])


def _launch(plane: ControlPlane, component: str, command: list[str], flags: Flags) -> None:
    binary = BUILT / plane.minor / component
    plane.programs[component] = Program(plane.folder, [binary, *command, *flags.get(component, ())])


def _etcd(folder: Path, client_port: int, peer_port: int) -> Program:
    clients, peers = f"http://{HOST}:{client_port}", f"http://{HOST}:{peer_port}"
    options = {
        "name": "one",
        "data-dir": folder / "etcd",
        "listen-client-urls": clients,
        "advertise-client-urls": clients,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"one={peers}",
        "logger": "zap",
        "log-level": "warn",
    }
    return Program(folder, ["etcd", *(f"--{name}={value}" for name, value in options.items())])


def _api_server(plane: ControlPlane, etcd: str, audit_policy: Path | None) -> list[str]:
    serving = plane.authority.serving("kube-apiserver")
    accounts = signing_key(plane.folder / "pki" / "accounts.key")
    users = plane.folder / "pki" / "tokens.csv"
    users.write_text(
        "".join(
            f'{plane.tokens[user]},{user},{user},"{",".join(groups)}"\n'
            for user, groups in USERS.items()
        ),
        encoding="utf-8",
    )
    options: dict[str, object] = {
        "etcd-servers": etcd,
        "bind-address": HOST,
        "advertise-address": HOST,
        "endpoint-reconciler-type": "none",
        "secure-port": plane.port,
        "cert-dir": plane.folder / "pki",
        "tls-cert-file": serving.certificate,
        "tls-private-key-file": serving.key,
        "client-ca-file": plane.authority.pair.certificate,
        "token-auth-file": users,
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        # Would taint every new node until the node lifecycle controller calls it ready.
        "disable-admission-plugins": "TaintNodesByCondition",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": accounts,
        "service-account-signing-key-file": accounts,
        "service-cluster-ip-range": "10.96.0.0/24",
        "shutdown-delay-duration": "0s",
    }
    if audit_policy is not None:
        options["audit-policy-file"] = audit_policy
        options["audit-log-path"] = plane.audit_log
    return [f"--{name}={value}" for name, value in options.items()]


def _controllers(plane: ControlPlane, node_lifecycle: bool) -> list[str]:
    accounts = plane.folder / "pki" / "accounts.key"
    options: dict[str, object] = {
        "kubeconfig": plane.kubeconfig(CONTROLLERS),
        "controllers": "*" if node_lifecycle else "*,-node-lifecycle-controller",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": accounts,
        "root-ca-file": plane.authority.pair.certificate,
        "leader-elect": "false",
        "secure-port": 0,
        "kube-api-qps": 400,
        "kube-api-burst": 800,
        "namespace-sync-period": "30s",
    }
    return [f"--{name}={value}" for name, value in options.items()]


def _scheduler(plane: ControlPlane, config: Mapping[str, object]) -> list[str]:
    content = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        **config,
        "clientConnection": {"kubeconfig": str(plane.kubeconfig(SCHEDULER)), "qps": 400},
    }
    file = plane.folder / "scheduler.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return [f"--config={file}", "--secure-port=0", "--v=3"]


def account_of(namespace: str) -> Object:
    """The service account without which no pod can be created in a namespace."""
    metadata = {"name": "default", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _is_ready(plane: ControlPlane) -> bool:
    plane.check()
    try:
        return bool(plane.admin.call("GET", "/readyz").code == 200)
    except (Refused, OSError):
        return False


def _has_account(plane: ControlPlane) -> bool:
    """Pods can't be created before the service account controller has run."""
    plane.check()
    return plane.admin.find(account_of("default")) is not None
