"""The CEL environments of Kubernetes, offline: compile with type check, estimate, evaluate.

Stands after `kube` and before everything that reads a user's file. `device_environment` and
`admission_environment` give a `CelEnvironment`; its `compile` gives a `Program`.
"""

from dracfg.cel.devices import DeviceFacts, Read
from dracfg.cel.environment import CelEnvironment, admission_environment, device_environment
from dracfg.cel.functions.authorizer import Authorizer, Check, Decision
from dracfg.cel.outcomes import CompileFailure, Cost, EvaluationError, Undecided
from dracfg.cel.program import Program
from dracfg.cel.semver import Semver

__all__ = [
    "Authorizer",
    "CelEnvironment",
    "Check",
    "CompileFailure",
    "Cost",
    "Decision",
    "DeviceFacts",
    "EvaluationError",
    "Program",
    "Read",
    "Semver",
    "Undecided",
    "admission_environment",
    "device_environment",
]
