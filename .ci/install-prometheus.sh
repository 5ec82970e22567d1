#!/usr/bin/env bash
# Debian's prometheus with promtool, for tests/external: real queries on real data, rules judged by their own tool.
set -euo pipefail
command -v prometheus >/dev/null && command -v promtool >/dev/null && exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo 'install prometheus: only root with apt-get can do so here' >&2
  exit 1
fi
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends prometheus
