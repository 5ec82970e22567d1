"""Two clusters as Prometheus sees them, in which every built-in measure holds, or none does.

Six nodes with four devices each: pool `one` has moved to claims, `two` and `three` are by plugin. Samples
come every minute on the minute, so that steps of subqueries fall on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MINUTE = 60
PAST = 180
"""Minutes of data before now."""
AHEAD = 15
"""Minutes of data after now, so that a slow machine asks no younger moment than there is data for."""


@dataclass(frozen=True, slots=True)
class World:
    """`bad`: nothing holds. `minor` decides how some metrics are called."""

    now: int
    bad: bool
    minor: str = "1.36"

    @property
    def moments(self) -> range:
        start = self.now // MINUTE * MINUTE
        return range(start - PAST * MINUTE, start + AHEAD * MINUTE, MINUTE)

    def choose(self, good: float, bad: float) -> float:
        return bad if self.bad else good


def exposition(world: World) -> str:
    """The world in the OpenMetrics text format, which has no space between labels."""
    lines = list(_claims(world))
    lines += _driver(world)
    lines += _nodes(world)
    lines += _pods(world)
    lines += _others(world)
    return "\n".join([*(line.replace('", ', '",') for line in lines), "# EOF", ""])


def _gauge(world: World, series: str, value: float) -> Iterator[str]:
    for moment in world.moments:
        yield f"{series} {value} {moment}"


def _counter(world: World, series: str, a_minute: float) -> Iterator[str]:
    for i, moment in enumerate(world.moments):
        yield f"{series} {a_minute * i} {moment}"


def _claims(world: World) -> Iterator[str]:
    name = (
        "dynamic_resource_allocation_resource_claims"
        if world.minor == "1.37"
        else "resourceclaim_controller_resource_claims"
    )
    series = f'{name}{{allocated="%s", admin_access="false", source="resource_claim_template"}}'
    yield from _gauge(world, series % "true", 4)
    yield from _gauge(world, series % "false", world.choose(0, 25))
    ran = 'scheduler_plugin_execution_duration_seconds_count{plugin="%s", extension_point="%s", status="%s"}'
    yield from _counter(world, ran % ("DynamicResources", "PreFilter", "Success"), 100)
    yield from _counter(world, ran % ("DynamicResources", "PreFilter", "Skip"), 5000)
    yield from _counter(world, ran % ("NodeResourcesFit", "Filter", "Error"), 100)
    if world.bad:
        yield from _counter(world, ran % ("DynamicResources", "Filter", "Error"), 10)


def _driver(world: World) -> Iterator[str]:
    call = (
        'driver_name="%s", grpc_status_code="%s", '
        'method_name="/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources", node="n1"'
    )
    histogram = "dra_grpc_operations_duration_seconds"
    own = call % ("gpu.example.com", "OK")
    for bound, good, bad in (("0.5", 90, 0), ("5", 90, 0), ("10", 90, 90), ("+Inf", 90, 90)):
        yield from _counter(
            world, f'{histogram}_bucket{{{own}, le="{bound}"}}', world.choose(good, bad)
        )
    yield from _counter(world, f"{histogram}_count{{{own}}}", 90)
    other = call % ("nic.example.com", "Unavailable")
    yield from _counter(world, f"{histogram}_count{{{other}}}", 50)
    done = 'dra_operations_duration_seconds_count{operation_name="PrepareResources", is_error="%s"}'
    yield from _counter(world, done % "false", 80)
    if world.bad:
        failed = call % ("gpu.example.com", "Unavailable")
        yield from _counter(world, f"{histogram}_count{{{failed}}}", 10)
        yield from _counter(world, done % "true", 60)
    used = 'dra_resource_claims_in_use{driver_name="gpu.example.com", node="%s"}'
    yield from _gauge(world, used % "n1", world.choose(4, 2))
    yield from _gauge(world, used % "n2", world.choose(0, 2))
    yield from _gauge(world, 'dra_resource_claims_in_use{driver_name="<any>", node="n1"}', 4)
    account = (
        'kube_pod_service_account{namespace="gpu", pod="node-plugin", service_account="plugin"}'
    )
    yield from _gauge(world, account, 1)
    pod = 'namespace="gpu", pod="node-plugin"'
    began = world.now - 3000
    yield from _gauge(
        world, f'kube_pod_container_state_started{{{pod}, container="plugin"}}', began
    )
    ready = began + world.choose(10, 400)
    yield from _gauge(world, f"kube_pod_status_container_ready_time{{{pod}}}", ready)


def _nodes(world: World) -> Iterator[str]:
    for number in range(1, 7):
        node, pool = f"n{number}", ("one", "two", "three")[(number - 1) // 2]
        yield from _gauge(
            world, f'kube_node_labels{{node="{node}", label_node_example_com_pool="{pool}"}}', 1
        )
        yield from _gauge(
            world,
            f'gpu_utilisation{{node="{node}", gpu="0"}}',
            world.choose(0.8, 0.4 if pool == "one" else 0.8),
        )
        if pool == "two":
            taint = f'node="{node}", key="dracfg.dev/pool", value="draining", effect="NoSchedule"'
            yield from _gauge(world, f"kube_node_spec_taint{{{taint}}}", 1)
        ready = f'kube_node_status_condition{{node="{node}", condition="Ready", status="true"}}'
        lost = range(world.now - 90 * MINUTE, world.now - 50 * MINUTE)
        for moment in world.moments:
            down = world.bad and node == "n2" and moment in lost
            yield f"{ready} {int(not down)} {moment}"
    slices = 'kube_resourceslice_devices_total{driver="gpu.example.com", resourceslice="%s", node_name="%s"}'
    yield from _gauge(world, slices % ("a", "n1"), world.choose(4, 3))
    if not world.bad:
        yield from _gauge(world, slices % ("b", "n2"), 4)


def _pods(world: World) -> Iterator[str]:
    for number in range(1, 5):
        wait = world.choose(2 * number, 700)
        yield from _pod(world, "ann", f"a{number}", "n1", wait, world.choose(20, 2000))
        yield from _pod(world, "ann", f"b{number}", "n5", 2 * number, 20)
        asks = f'namespace="ann", pod="b{number}", node="n5", container="main"'
        plugin = f'{asks}, resource="example_com_gpu", unit="integer"'
        yield from _gauge(world, f"kube_pod_container_resource_requests{{{plugin}}}", 1)
        if world.bad:
            labels = f'namespace="ann", pod="w{number}"'
            yield from _gauge(world, f'kube_pod_info{{{labels}, node=""}}', 1)
            yield from _gauge(world, f'kube_pod_status_phase{{{labels}, phase="Pending"}}', 1)
            yield from _gauge(world, f'kube_pod_status_scheduled{{{labels}, condition="false"}}', 1)
            yield from _gauge(world, f"kube_pod_status_unschedulable{{{labels}}}", 1)
            yield from _pod(world, "bob", f"c{number}", "n4", 1, 1)
    yield from _pod(world, "stranger", "s1", "n1", 5000, 5000)


def _pod(
    world: World, namespace: str, name: str, node: str, wait: float, ready: float
) -> Iterator[str]:
    labels = f'namespace="{namespace}", pod="{name}"'
    created = world.now - 7200
    yield from _gauge(world, f'kube_pod_info{{{labels}, node="{node}"}}', 1)
    yield from _gauge(world, f'kube_pod_status_phase{{{labels}, phase="Running"}}', 1)
    yield from _gauge(world, f'kube_pod_status_phase{{{labels}, phase="Pending"}}', 0)
    yield from _gauge(world, f'kube_pod_status_scheduled{{{labels}, condition="true"}}', 1)
    yield from _gauge(world, f"kube_pod_created{{{labels}}}", created)
    yield from _gauge(world, f"kube_pod_status_scheduled_time{{{labels}}}", created + wait)
    yield from _gauge(world, f"kube_pod_status_ready_time{{{labels}}}", created + wait + ready)
    restarts = f'kube_pod_container_status_restarts_total{{{labels}, container="main"}}'
    own = world.choose(0, 1 if name == "a1" else 0)
    yield from _counter(world, restarts, 9 if namespace == "stranger" else own)


def _others(world: World) -> Iterator[str]:
    checks = (
        'apiserver_validating_admission_policy_check_total{policy="%s", policy_binding="x", '
        'error_type="no_error", enforcement_action="%s"}'
    )
    yield from _counter(world, checks % ("dracfg-claims", "allow"), 40)
    yield from _counter(world, checks % ("somebody-elses", "deny"), 500)
    if world.bad:
        yield from _counter(world, checks % ("dracfg-claims", "deny"), 60)
    yield from _gauge(world, "gpu_unhealthy", world.choose(0, 3))
    evicted = "device_taint_eviction_controller_pod_deletions_total"
    yield from _counter(world, evicted, world.choose(0, 1))
    for name in ("training_restarts_total", "checkpoint_restores_total"):
        yield from _counter(world, f'{name}{{namespace="ann"}}', world.choose(0, 1))
        yield from _counter(world, f'{name}{{namespace="stranger"}}', 7)


def oddities(now: int) -> str:
    """Series that end, have holes, or are no number: `spike` was 9 an hour ago and is 1, `ended` stopped
    ten minutes ago, `odd` is NaN, `steady` is 2."""
    world = World(now, bad=False)
    lines = []
    for moment in world.moments:
        hour_ago = now - 65 * MINUTE < moment < now - 55 * MINUTE
        lines.append(f"spike {9 if hour_ago else 1} {moment}")
    lines += [f"ended 1 {moment}" for moment in world.moments if moment < now - 10 * MINUTE]
    lines += [f"odd NaN {moment}" for moment in world.moments]
    lines += [f"steady 2 {moment}" for moment in world.moments]
    return "\n".join([*lines, "# EOF", ""])
