"""dracfg compiles a catalog of devices and its tenants into Kubernetes DRA manifests."""

__version__ = "0.1.0"
