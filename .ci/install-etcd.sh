#!/usr/bin/env bash
# Puts etcd and openssl on the PATH for tests/cluster, from the distribution's packages.
set -euo pipefail
missing=()
command -v etcd >/dev/null || missing+=(etcd-server)
command -v openssl >/dev/null || missing+=(openssl)
[ ${#missing[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "install ${missing[*]}: only root with apt-get can do so here" >&2
  exit 1
fi
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
