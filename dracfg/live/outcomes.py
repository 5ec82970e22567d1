"""Outcomes of asking a server, as findings: no connection, another minor, lacking rights.

They stand at the name of the Cluster, which says what the server should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.check.places import place
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Cluster
from dracfg.live.connection import Connection, Unanswered, Why
from dracfg.live.refusals import Right
from dracfg.lower.roles import MONITORING, PR_BOT, PR_BOT_RECORDS, applier_verbs, fixed_roles


@dataclass(frozen=True, slots=True)
class _Outcome:
    code: str
    what: str
    advice: str


_OUTCOMES: Mapping[Why, _Outcome] = {
    "unreachable": _Outcome(
        "LIV001", "can't be reached", "see that the address is right and that a way leads there"
    ),
    "slow": _Outcome("LIV002", "does not answer in time", "try again, or raise --request-timeout"),
    "expired": _Outcome(
        "LIV003",
        "shows a certificate that is out of date",
        "renew the certificate of the API server (`kubeadm certs renew apiserver`); the clock of "
        "this machine may be wrong as well",
    ),
    "untrusted": _Outcome(
        "LIV004",
        "shows a certificate that the kubeconfig does not vouch for",
        "take a fresh kubeconfig from the cluster; another server may be answering there",
    ),
    "handshake": _Outcome(
        "LIV004",
        "makes no TLS connection",
        "see that an API server answers there, and that the kubeconfig's certificates are whole",
    ),
    "credentials": _Outcome(
        "LIV005", "refuses the credentials", "they may have expired; take a fresh kubeconfig"
    ),
    "foreign": _Outcome(
        "LIV006",
        "does not behave like one",
        "see whether the address is that of a proxy or of a login page",
    ),
}
_READERS = (PR_BOT, PR_BOT_RECORDS, MONITORING)
"""Roles that only read, the narrowest first."""


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a server: the minor as Clusters write it ("1.36"), and what it says itself."""

    minor: str
    full: str


def server_version(connection: Connection) -> Version | None:
    """The version of the server, None where it does not tell. Raises Unanswered."""
    answer = connection.get("/version")
    if not answer.is_good:
        return None
    major, minor = (str(answer.body.get(key, "")).rstrip("+") for key in ("major", "minor"))
    if not (major.isdecimal() and minor.isdecimal()):
        raise Unanswered("foreign", "its /version names no minor")
    return Version(f"{major}.{minor}", str(answer.body.get("gitVersion", f"{major}.{minor}")))


def unanswered_finding(cluster: Cluster, address: str, fault: Unanswered) -> Diagnostic:
    """LIV001–LIV006: there is no answer to go by."""
    outcome = _OUTCOMES[fault.why]
    return diagnose(
        outcome.code,
        cluster_place(cluster),
        f"the API server {address} of {cluster.name} {outcome.what}: {fault.detail}",
        help=outcome.advice,
    )


def version_finding(cluster: Cluster, version: Version | None) -> Diagnostic | None:
    """LIV007: the server is of another minor than the Cluster says, or does not tell."""
    wanted = cluster.document.spec.kubernetes
    if version is None:
        return diagnose(
            "LIV008",
            cluster_place(cluster),
            f"the API server of {cluster.name} does not tell its version",
            help="bind the ClusterRole system:public-info-viewer to the user",
        )
    if version.minor == wanted:
        return None
    return diagnose(
        "LIV007",
        place(cluster.document, "spec", "kubernetes"),
        f"the API server of {cluster.name} is of Kubernetes {version.minor}, not {wanted}",
        label="the minor that out/ is compiled for",
        found=version.full,
        expected=wanted,
        help="see that the kubeconfig is that of this cluster; if it was upgraded, say so here and "
        "compile again",
    )


def rights_finding(
    cluster: Cluster, right: Right, count: int, span: Span | None = None
) -> Diagnostic:
    """LIV009: the user may not do what had to be asked `count` times."""
    where = f" in {right.namespace}" if right.namespace else ""
    times = f" ({count:,} objects)" if count > 1 else ""
    return diagnose(
        "LIV009",
        span or cluster_place(cluster),
        f"{right.user} may not {right.verb} {_resource(right)}{where} on {cluster.name}{times}",
        help=_granting(cluster, right),
    )


def cluster_place(cluster: Cluster) -> Span:
    """The name of the Cluster document."""
    return place(cluster.document, "metadata", "name")


def _granting(cluster: Cluster, right: Right) -> str:
    """Which of the roles that dracfg emits grants the right."""
    roles = fixed_roles()
    for name in _READERS:
        if any(_grants(rule, right) for rule in roles[name].rules):
            return f"bind the ClusterRole {name} to the user, it grants that"
    if right.verb in applier_verbs():
        return (
            f"the ClusterRole dracfg-applier grants that; it stands in "
            f"gitops/snippets/applier-{cluster.name}.yaml"
        )
    return "no role that dracfg emits grants that; ask who administers the cluster"


def _grants(rule: Mapping[str, Iterable[str]], right: Right) -> bool:
    return (
        right.verb in rule["verbs"]
        and right.group in rule["apiGroups"]
        and right.resource in rule["resources"]
    )


def _resource(right: Right) -> str:
    return f"{right.resource}.{right.group}" if right.group else right.resource
