"""Names and formats that Kubernetes accepts.

Each check takes a text and returns a plain reason why it does not fit, without the text itself, or
None where it fits. It may not know which field or document the text comes from.

Sources: k8s.io/apimachinery pkg/util/validation; kubernetes/api resource/v1 types.go (0.37.0-rc.0);
kubernetes/kubernetes v1.36.3 pkg/apis/core/v1/helper (extended resources).
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "check_attribute_name",
    "check_c_identifier",
    "check_device_class_name",
    "check_dns_label",
    "check_dns_subdomain",
    "check_driver_name",
    "check_extended_resource_name",
    "check_fully_qualified_attribute",
    "check_label_key",
    "check_label_value",
    "check_pool_name",
    "check_qualified_name",
    "check_request_reference",
]

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
DRIVER_LENGTH = 63
POOL_LENGTH = 253
IDENTIFIER_LENGTH = 32
QUOTA_PREFIX = "requests."

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(rf"{LABEL.pattern}(\.{LABEL.pattern})*")
NAME_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_REMEMBERED = 16_384
"""Answers kept of each check: a fleet's objects have few keys, and names that come again and again."""


@lru_cache(maxsize=_REMEMBERED)
def check_dns_label(text: str) -> str | None:
    """A DNS label (RFC 1123): names of requests, devices, pods' claims, namespaces."""
    return _too_long(text, LABEL_LENGTH) or _shape(
        text,
        LABEL,
        "lower-case letters, digits and '-', starting and ending with a letter or digit",
    )


@lru_cache(maxsize=_REMEMBERED)
def check_dns_subdomain(text: str) -> str | None:
    """A DNS subdomain (RFC 1123): names of most objects."""
    return _too_long(text, SUBDOMAIN_LENGTH) or _shape(
        text,
        SUBDOMAIN,
        "lower-case letters, digits, '-' and '.', each part starting and ending with a letter "
        "or digit",
    )


@lru_cache(maxsize=_REMEMBERED)
def check_qualified_name(text: str) -> str | None:
    """`[prefix/]name`, as label keys, annotation keys and resource names are."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return "must hold at most one '/'"
    if slash:
        fault = check_dns_subdomain(prefix)
        if fault is not None:
            return f"the part before '/' {fault}"
    fault = _too_long(name, LABEL_LENGTH) or _name_part(name)
    return f"the part after '/' {fault}" if fault and slash else fault


def check_label_key(text: str) -> str | None:
    """A label key; keys of taints have the same form."""
    return check_qualified_name(text)


@lru_cache(maxsize=_REMEMBERED)
def check_label_value(text: str) -> str | None:
    """A label value; it may be empty. Values of taints have the same form."""
    return (_too_long(text, LABEL_LENGTH) or _name_part(text)) if text else None


def check_c_identifier(text: str) -> str | None:
    """The id of a device attribute or capacity."""
    return _too_long(text, IDENTIFIER_LENGTH) or _shape(
        text, IDENTIFIER, "letters, digits and '_', not starting with a digit"
    )


def check_driver_name(text: str) -> str | None:
    """The name of a DRA driver: a DNS subdomain of at most 63 characters."""
    return _too_long(text, DRIVER_LENGTH) or check_dns_subdomain(text)


def check_pool_name(text: str) -> str | None:
    """The name of a resource pool: DNS subdomains joined by '/'."""
    fault = _too_long(text, POOL_LENGTH)
    if fault is not None:
        return fault
    for part in text.split("/"):
        fault = check_dns_subdomain(part)
        if fault is not None:
            return f"the part {part!r} {fault}"
    return None


def check_attribute_name(text: str) -> str | None:
    """`[domain/]id`, the key of a device attribute or capacity.

    kube-apiserver splits at the first '/' and lets some longer names pass; this does not.
    """
    domain, slash, identifier = text.rpartition("/")
    if "/" in domain:
        return "must hold at most one '/'"
    if slash:
        fault = check_driver_name(domain)
        if fault is not None:
            return f"the domain {fault}"
    fault = check_c_identifier(identifier)
    return f"the part after '/' {fault}" if fault and slash else fault


def check_fully_qualified_attribute(text: str) -> str | None:
    """`domain/id`, as constraints and derived attributes name attributes."""
    if "/" not in text:
        return "must name its domain: <domain>/<id>"
    return check_attribute_name(text)


def check_request_reference(text: str) -> str | None:
    """`<request>` or `<request>/<subrequest>`, as constraints and configs name requests."""
    if text.count("/") > 1:
        return "must be <request> or <request>/<subrequest>"
    for part in text.split("/"):
        fault = check_dns_label(part)
        if fault is not None:
            return f"the part {part!r} {fault}" if "/" in text else fault
    return None


def check_device_class_name(text: str) -> str | None:
    """The name of a DeviceClass that can also be used in extended resource and quota keys.

    Kubernetes takes any DNS subdomain of 253 characters; beyond 63 the implicit extended resource
    name and its quota key cannot be written.
    """
    return _too_long(text, LABEL_LENGTH) or check_dns_subdomain(text)


def check_extended_resource_name(text: str) -> str | None:
    """The explicit name of an extended resource, such as example.com/gpu."""
    if "/" not in text:
        return "must name its domain: <domain>/<name>"
    if "kubernetes.io/" in text:
        return "must not lie in the domain kubernetes.io, which Kubernetes keeps for itself"
    if text.startswith(QUOTA_PREFIX):
        return f"must not start with {QUOTA_PREFIX!r}, which quota keys start with"
    # Quota must be able to name the resource, so nine characters of the domain are taken.
    return check_qualified_name(text) or check_qualified_name(QUOTA_PREFIX + text)


def _too_long(text: str, limit: int) -> str | None:
    if not text:
        return "must not be empty"
    if len(text) > limit:
        return f"must be at most {limit} characters, it has {len(text)}"
    return None


def _shape(text: str, pattern: re.Pattern[str], words: str) -> str | None:
    return None if pattern.fullmatch(text) else f"must be made of {words}"


def _name_part(text: str) -> str | None:
    return _shape(
        text,
        NAME_PART,
        "letters, digits, '-', '_' and '.', starting and ending with a letter or digit",
    )
