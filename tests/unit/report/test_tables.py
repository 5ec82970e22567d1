"""Every section as a flat table, and the summary for a terminal."""

import csv
import io
from dataclasses import replace

import pytest

from dracfg.report.gathering import report_of
from dracfg.report.tables import TABLES, csv_text
from dracfg.report.text import report_text
from tests.unit.report.repositories import crowded, example_report


@pytest.mark.parametrize("name", TABLES)
def test_rows_have_the_named_columns(name: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(example_report(), name))))
    assert tuple(rows[0]) == TABLES[name].columns
    assert all(len(row) == len(rows[0]) for row in rows)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (
            "capacity",
            (
                "prod-east,l40s-hami,dra,l40s-east,memory,10,46068Mi,460680Mi,0,0,46068Mi,0,"
                "45972Mi,0,360Gi,140Gi,160Gi,0.44"
            ),
        ),
        ("tenants", "search,active,prod-west,l4,rank,whole,,,2,2,true,proven"),
        ("offers", "notebooks,search,slice,l40s-hami,memory-slices,10Gi,2,2,0"),
        ("versions", "prod-west,1.36,generic,flux,,gpu.nvidia.com,0.5.0"),
        ("objectives", "prod-east,a100-40g,preparationP99,p99 of preparation on the node,10s,true"),
    ],
)
def test_a_row_of_the_example(name: str, row: str) -> None:
    assert row in csv_text(example_report(), name).split("\r\n")


def test_devices_name_who_holds_them() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(example_report(), "devices"))))
    held = [row for row in rows if row["claims"]]
    assert held
    assert all(row["tenants"] and row["state"] != "idle" for row in held)


def test_a_cell_is_never_a_formula() -> None:
    report = example_report()
    tenant = replace(report.tenants[0], name='=HYPERLINK("http://x")')
    text = csv_text(replace(report, tenants=(tenant,)), "tenants")
    assert "\r\n\"'=HYPERLINK" in text


def test_text_opens_with_the_verdict_and_names_what_is_refuted() -> None:
    proven, refuted = report_text(example_report()), report_text(report_of(crowded()))
    assert "360Gi" in proven
    first, lead, *_ = refuted.splitlines()
    assert first.endswith("are refuted")
    assert "7 tenants on 2 clusters" in lead
    assert "refuted: search, 20 rank, all together on prod-west: whole l4 come to 23 devices" in (
        refuted
    )


def test_text_holds_no_control_characters() -> None:
    report = example_report()
    figure = replace(report.capacity[0], tier="a\x1b[31mb")
    assert "\x1b" not in report_text(replace(report, capacity=(figure,)))
