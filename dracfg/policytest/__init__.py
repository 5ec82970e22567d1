"""Policy tests, offline: one request against what dracfg emits, as kube-apiserver would judge it."""
