"""A cluster's ValidatingAdmissionPolicies, which hold tenants, drivers and people to the catalog.

How many there are, and how long they are, depends on the catalog and not on the tenants: what a
namespace may do is read from the annotations that `lower.rights` writes.
"""

from dracfg.lower.admission.policies import (
    ADMISSION_API,
    FILE,
    admission,
    claim_rule,
    left_out,
)

__all__ = ["ADMISSION_API", "FILE", "admission", "claim_rule", "left_out"]
