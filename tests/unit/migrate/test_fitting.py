"""Among profiles that hold the same devices, one that asks for nothing else goes first."""

import dataclasses

from dracfg.link.catalog import Catalog
from dracfg.link.claims import Constraint
from dracfg.migrate.demand import Item
from dracfg.migrate.fitting import Chosen, SeveralFit, fit, offerings

TWO = (Item("nvidia.com/gpu", 2),)


def test_a_plain_profile_goes_first(lab: Catalog) -> None:
    (plain,) = (one for one in offerings(lab, lab.tenants["team"], ["lab"]) if one.name == "gpu-x2")
    plan = dataclasses.replace(plain.plan, constraints=(Constraint(("gpu",), "example.com/root"),))
    bound = dataclasses.replace(plain, name="bound", plan=plan)
    assert fit(TWO, [bound, plain], "team") == Chosen("gpu-x2", "gpu-x2", "gpu")
    alone = fit(TWO, [bound], "team")
    assert isinstance(alone, Chosen)
    assert alone.beside == "equal in example.com/root"
    twice = dataclasses.replace(plain, name="again")
    assert fit(TWO, [twice, plain], "team") == SeveralFit(("again", "gpu-x2"))
