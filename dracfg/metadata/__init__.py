"""Device metadata as containers find it in files. Nothing of the rest of dracfg is imported here."""

from dracfg.metadata.reader import (
    Broken,
    Claim,
    Device,
    Metadata,
    MetadataError,
    Network,
    NotSupported,
    NotYet,
    Request,
    read,
)

__all__ = [
    "Broken",
    "Claim",
    "Device",
    "Metadata",
    "MetadataError",
    "Network",
    "NotSupported",
    "NotYet",
    "Request",
    "read",
]
