"""The report says what the plan, the audit and the catalog say, in one document with a schema."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dracfg.audit import audit
from dracfg.audit.report import audit_document
from dracfg.link.catalog import Catalog
from dracfg.pipeline import judge
from dracfg.plan.plandocument import capacity_plan
from dracfg.report.document import Report, report_document
from dracfg.report.gathering import Audited, gather, report_of
from dracfg.report.ledger import by_pool
from dracfg.report.schema import report_schema
from tests.unit.report.repositories import ROLLOUT, ROOT, crowded, edited, example, example_report


def document(report: Report) -> dict[str, Any]:
    return json.loads(json.dumps(report_document(report)))


@pytest.mark.parametrize("facts", [example, crowded], ids=["example", "crowded"])
def test_it_keeps_to_its_schema(facts: Any) -> None:
    schema = report_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(document(report_of(facts())))


def test_the_schema_lets_nothing_out() -> None:
    made = document(example_report())
    del made["capacity"][0]["promiseable"]
    assert not jsonschema.Draft7Validator(report_schema()).is_valid(made)


def test_the_schema_stands_beside_the_others() -> None:
    assert json.loads((ROOT / "schemas" / "report.json").read_text()) == report_schema()


def test_capacity_and_proofs_are_those_of_the_capacity_plan() -> None:
    facts, report = example(), document(example_report())
    plan = capacity_plan(facts.judged.catalog, inventories=facts.judged.inventories)
    own = ("key", "devices", "aDevice", "physical", "deductions", "promiseable", "promised",
           "limit", "overcommit")  # fmt: skip
    figures = [
        {"cluster": tier["cluster"], "tier": tier["tier"], **{key: one[key] for key in own}}
        for tier in plan["tiers"]
        for one in tier["figures"]
    ]
    assert [{key: one[key] for key in ("cluster", "tier", *own)} for one in report["capacity"]] == (
        figures
    )
    proven = [
        (tier["tier"], proof["tenant"], proof["question"], proof["devices"], proof["verdict"])
        for tier in plan["tiers"]
        for proof in tier["proofs"]
    ]
    keys = ("tier", "tenant", "question", "devices", "verdict")
    assert [tuple(one[key] for key in keys) for one in report["proofs"]] == proven
    grounds = [
        [ground["what"] for ground in proof["restsOn"]]
        for tier in plan["tiers"]
        for proof in tier["proofs"]
    ]
    assert [[report["grounds"][i]["what"] for i in one["restsOn"]] for one in report["proofs"]] == (
        grounds
    )


def test_devices_are_those_of_the_audit() -> None:
    done = example().audits["prod-east"].done
    ledger = audit_document(done)["ledger"]
    shown = [
        (one["driver"], one["slices"], one["device"], one["state"], len(one["holders"]))
        for pool in document(example_report())["ledger"]
        for one in pool["devices"]
    ]
    told = [
        (one["driver"], one["pool"], one["device"], one["state"], len(one["holders"]))
        for one in ledger
    ]
    assert sorted(shown) == sorted(told)
    assert any(holders for *_, holders in shown)


def test_pools_are_found_by_the_labels_of_nodes() -> None:
    places = {(one.pool, one.tier) for one in example_report().ledger}
    assert ("a100-east", "a100-40g") in places
    assert ("a100-east", "cx7-400g") in places
    assert all(pool is not None for pool, _ in places)


def test_without_nodes_on_record_a_tier_of_one_pool_tells_the_pool() -> None:
    facts = example()
    cluster = facts.judged.catalog.clusters["prod-east"]
    found = list(by_pool(cluster, facts.audits["prod-east"].done.ledger, []))
    places = {(one.pool, one.tier) for one in found}
    assert ("a100-east", "cx7-400g") in places
    assert (None, "a100-40g") in places, "two pools hold it"
    assert found[-1].pool is None


def test_tenants_are_all_there_with_what_they_may_hold() -> None:
    catalog: Catalog = example().judged.catalog
    report = example_report()
    assert [tenant.name for tenant in report.tenants] == list(catalog.tenants)
    search = next(tenant for tenant in report.tenants if tenant.name == "search")
    borrowed = [one for one in search.holdings if one.borrowed_from == "notebooks"]
    assert [(one.size, one.guaranteed, one.limit) for one in borrowed] == [("10Gi", 2, 2)]
    assert search.verdict == "proven"


def test_what_a_tier_refutes_concerns_every_tenant_with_a_guarantee_in_it() -> None:
    by_name = {tenant.name: tenant.verdict for tenant in report_of(crowded()).tenants}
    assert by_name["search"] == by_name["serving"] == "refuted"
    assert by_name["vision"] == "proven"
    assert by_name["monitor"] is None


def test_blocked_claims_come_with_the_devices_that_block_them() -> None:
    report = report_of(crowded())
    blocked = [one for one in report.proofs if one.question == "nonBlocking"]
    refuted = [report.evidence[one.evidence] for one in blocked if one.verdict == "refuted"]
    assert refuted
    for one in refuted:
        assert one.form == "arrangement"
        assert sum(row.devices for row in one.devices) == 9  # every device of l40s-east
        assert all(row.carries for row in one.devices)
        assert one.text.startswith("others can leave no room")


def test_a_packing_tells_of_every_device() -> None:
    report = example_report()
    packed = next(one for one in report.proofs if one.tier == "cx7-400g")
    evidence = report.evidence[packed.evidence]
    assert evidence.form == "packing"
    assert [(row.devices, len(row.carries)) for row in evidence.devices] == [(20, 1), (4, 0)]


def test_summary_counts_what_is_told() -> None:
    report = report_of(crowded())
    told = report.summary
    verdicts = [one.verdict for one in report.proofs]
    verdicts += [one.verdict for one in report.joint_proofs]
    assert (told.proven + told.refuted + told.unknown) == len(verdicts)
    assert told.refuted == verdicts.count("refuted") > 0
    assert told.errors == sum(one.severity == "error" for one in report.findings)
    assert report.verdict == "refuted"


def test_clusters_narrow_everything_that_is_of_one() -> None:
    report = report_of(gather(example().judged, dict(example().audits), ["prod-west"]))
    assert {one.cluster for one in report.capacity} == {"prod-west"}
    assert {one.cluster for one in report.proofs} == {"prod-west"}
    assert [one.name for one in report.clusters] == ["prod-west"]
    assert not report.ledger
    holdings = [one for tenant in report.tenants for one in tenant.holdings]
    assert {one.cluster for one in holdings} == {"prod-west"}


def test_offers_have_both_sides_and_what_is_held() -> None:
    (offer,) = example_report().offers
    assert (offer.giver, offer.taker, offer.size) == ("notebooks", "search", "10Gi")
    assert (offer.offered, offer.accepted) == (2, 2)
    assert set(offer.held) == {"prod-east"}


def test_rollouts_stand_where_their_documents_say() -> None:
    (rollout,) = report_of(gather(judge(ROLLOUT), {})).rollouts
    assert [stage.place for stage in rollout.stages] == ["here", "ahead", "ahead", "ahead"]
    assert rollout.stages[-1].tenants == ("*",)
    assert {gate.holds for gate in rollout.gates} == {"notAsked"}


def test_live_findings_say_whose_turn_it_is() -> None:
    live = [one for one in example_report().findings if one.cluster == "prod-east"]
    assert {one.handling for one in live} >= {"needsPerson"}


def test_what_repository_and_record_both_tell_is_told_once(tmp_path: Path) -> None:
    folder = edited(tmp_path, "catalog/pools/prod-east.yaml", "nodes: 4", "nodes: 5")
    judged = judge(folder)
    records = judged.records["prod-east"]
    done = audit(judged.catalog, judged.catalog.clusters["prod-east"], records)
    both = set(done.diagnostics) & set(judged.findings)
    assert both
    facts = gather(judged, {"prod-east": Audited(done, records, judged.lines)})
    findings = [(one.code, one.message) for one in report_of(facts).findings]
    for one in both:
        assert findings.count((one.code, one.message)) == 1


def test_the_same_input_gives_the_same_document() -> None:
    again = report_of(gather(judge(ROOT), dict(example().audits)))
    assert report_document(again) == report_document(example_report())
