"""kind: Cluster. One Kubernetes cluster: its minor, who runs its control plane, how git reaches it."""

from typing import Annotated, Literal

from pydantic import Field

from dracfg.model.base import Count, Duration, Minor, Name, Reason, Spec, Subdomain
from dracfg.model.objectives import Objectives, WorkloadMetrics

POD_SPEC_PATH = (
    r"^[a-zA-Z][a-zA-Z0-9]*(\.[a-zA-Z][a-zA-Z0-9]*)*"
    r"((\[\]|\.\*)(\.[a-zA-Z][a-zA-Z0-9]*)*)?$"
)

Distribution = Literal["kubeadm", "k3s", "kind", "eks", "gke", "aks", "openshift", "generic"]


class ServiceAccountRef(Spec):
    """A service account of the cluster."""

    namespace: Name
    """Its namespace."""
    name: Subdomain
    """Its name."""


class BreakGlass(Spec):
    """Who may act where policies refuse everybody else: for emergencies, named and few."""

    groups: tuple[str, ...] = ("system:masters",)
    """Groups, as the API server knows them."""
    users: tuple[str, ...] = ()
    """User names, as the API server knows them."""


class Applier(Spec):
    """The identity with which the GitOps engine writes to the cluster."""

    service_account: ServiceAccountRef


class _Gitops(Spec):
    revision: str = Field(default="main", min_length=1, examples=["main"])
    """Branch, tag or commit that the engine follows."""
    path: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$")
    """Where this cluster's tree lies in the repository; `out/<cluster>` unless said otherwise."""
    break_glass: BreakGlass = BreakGlass.model_construct()
    template_names: Literal["revision", "digest"] = "revision"
    """How claim templates are named: `<profile>-v<revision>`, or `<profile>-<digest of the spec>`."""
    retain_templates: Annotated[int, Field(ge=0, le=50)] = 3
    """How many retired templates of a profile stay for workloads that still name them."""


class ArgoDestination(Spec):
    """Where Argo CD applies to: the cluster's name in Argo CD, or the address of its API server."""

    name: str | None = Field(default=None, min_length=1, examples=["prod-east"])
    """The cluster's name in Argo CD."""
    server: str | None = Field(default=None, pattern=r"^https://[^\s]+$")
    """The address of its API server, in place of a name."""


class ArgoCD(_Gitops):
    """Argo CD applies the tree: one parent Application with its children."""

    engine: Literal["argocd"]
    """Argo CD."""
    repo_url: str = Field(alias="repoURL", pattern=r"^(https://|ssh://|git@)[^\s]+$")
    """The repository, as Argo CD fetches it."""
    namespace: Name = "argocd"
    """The namespace of the Application objects."""
    destination: ArgoDestination
    applier: Applier


class FluxSource(Spec):
    """The Flux source object that fetches the repository."""

    kind: Literal["GitRepository", "OCIRepository"] = "GitRepository"
    """The kind of the source object."""
    name: Subdomain = "flux-system"
    """Its name."""
    namespace: Name | None = None
    """Its namespace, where it is not that of the Kustomizations."""


class Flux(_Gitops):
    """Flux applies the tree: one Kustomization a layer and a tenant."""

    engine: Literal["flux"]
    """Flux."""
    repo_url: str | None = Field(
        default=None, alias="repoURL", pattern=r"^(https://|ssh://|git@)[^\s]+$"
    )
    namespace: Name = "flux-system"
    """The namespace of the Kustomization objects."""
    source: FluxSource = FluxSource.model_construct()
    interval: Duration = "60m"
    """How often Flux applies the tree again where nothing changed."""
    applier: Applier


class Plain(_Gitops):
    """No engine: somebody runs `kubectl apply -k`, or another tool does."""

    engine: Literal["plain"]
    """None."""
    repo_url: str | None = Field(default=None, alias="repoURL")
    applier: Applier | None = None


class ExemptNamespace(Spec):
    """A namespace outside the tenants' rules, such as a vendor's validators."""

    name: Name
    """The namespace."""
    reason: Reason
    """Why it is exempt, for reviewers."""
    devices: Count
    """The most devices that it may hold; counted in every proof."""


class Priority(Spec):
    """A priority that tenants may be given; pods name it as their PriorityClass."""

    name: Name
    """What pods name as `priorityClassName`."""
    value: Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)]
    """Higher comes first. Values above are Kubernetes' own."""
    preempts: bool = True
    """Whether its pods may take the place of pods with a lower priority, or only go first."""


class Identities(Spec):
    """Who sends a request, as the API server knows them."""

    users: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """User names."""
    groups: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Groups."""
    service_accounts: tuple[ServiceAccountRef, ...] = ()
    """Service accounts."""


class NodeGuards(Spec):
    """Who may give up a node or a pod whose devices `reclaim: hold` keeps taken."""

    fencers: Identities = Identities.model_construct()
    """May do so once the fence that `reclaim.fencing` names is recorded on the node."""
    autoscalers: Identities = Identities.model_construct()
    """Delete nodes that they have drained and whose machine they take away; need no fence."""


class Scheduler(Spec):
    """A scheduler that gives out devices of claims."""

    name: Subdomain
    """As pods write it in `schedulerName`."""
    pools: tuple[Name, ...] | Literal["*"] = "*"
    """The node pools whose devices it gives out; no other scheduler may."""


class PodTemplateKind(Spec):
    """A kind whose controller makes pods from templates in its objects."""

    api_group: Subdomain
    """The API group of the kind."""
    versions: tuple[Annotated[str, Field(pattern=r"^v[0-9]+((alpha|beta)[0-9]+)?$")], ...] = Field(
        min_length=1
    )
    """The versions that the cluster serves."""
    resource: Annotated[str, Field(pattern=r"^[a-z0-9]+$")]
    """The plural, as in `kubectl get`."""
    pod_specs: tuple[
        Annotated[str, Field(pattern=POD_SPEC_PATH, examples=["spec.template.spec"])], ...
    ] = Field(min_length=1)
    """Where pod specs lie; `[]` stands for each item of a list and `*` for each value of a map, once."""


class Addons(Spec):
    """What else runs on the cluster."""

    kueue: str | None = Field(
        default=None, pattern=r"^[0-9]+\.[0-9]+(\.[0-9]+)?$", examples=["0.17"]
    )
    """The release of Kueue; queues are emitted for it."""
    prometheus_operator: bool = False
    """Whether alerts are emitted as PrometheusRules."""
    claim_metrics: bool = False
    """Whether kube-state-metrics exports ResourceClaims and ResourceSlices, which it does not unless told."""
    grafana: bool = False
    """Whether Grafana's sidecar takes dashboards from ConfigMaps with the label `grafana_dashboard`."""
    kyverno: bool = False
    """Whether Kyverno runs there."""


class ClusterSpec(Spec):
    """One Kubernetes cluster."""

    kubernetes: Minor
    """The minor version, quoted: "1.34"."""
    distribution: Distribution
    """Who runs the control plane, which decides whether its gates can be set."""
    gitops: Annotated[ArgoCD | Flux | Plain, Field(discriminator="engine")]
    """The engine that applies the tree, and how it gets there."""
    feature_gates: dict[Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")], bool] = {}
    """Gates beyond what the output needs; on managed control planes, what is known to be on."""
    allow_alpha: dict[str, Reason] = {}
    """Alpha features in use, each by its gate with the reason why that is accepted; a gate of a
    driver as `<driver>/<gate>`."""
    unmanaged_namespaces: Literal["deny", "warn"] = "deny"
    """What a namespace that no tenant names may claim: nothing, or anything with a warning."""
    exempt_namespaces: tuple[ExemptNamespace, ...] = ()
    priorities: tuple[Priority, ...] = ()
    """Written as PriorityClasses; entitlements and profiles name them."""
    pod_template_kinds: tuple[PodTemplateKind, ...] = ()
    """Kinds beside Kubernetes' own whose pod templates admission judges."""
    schedulers: tuple[Scheduler, ...] = (Scheduler.model_construct(name="default-scheduler"),)
    """All that give out devices; kube-scheduler alone unless said."""
    node_guards: NodeGuards = NodeGuards.model_construct()
    contact: str | None = Field(default=None, min_length=3, max_length=200)
    """Where to ask for more: closes every message of a refusal."""
    addons: Addons = Addons.model_construct()
    objectives: Objectives | None = None
    """What all claims of the cluster together may count on."""
    metrics: WorkloadMetrics | None = None
    """What Prometheus is asked about the work on devices; without a name there is no alert."""
    runbooks: str | None = Field(
        default=None, pattern=r"^https://[^\s#]+$", examples=["https://docs.example.com/alerts"]
    )
    """Where docs/alerts.md is published; alerts link to their section of it."""
    inventory: str | None = Field(default=None, pattern=r"^catalog/inventory/.+\.(yaml|yml|json)$")
    """A recorded `kubectl get resourceslices -o yaml` of this cluster."""
