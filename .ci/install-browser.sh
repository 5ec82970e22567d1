#!/usr/bin/env bash
# What tests/external/test_report_page.py drives: Debian's chromium, and axe-core from npm under .cache/axe.
set -euo pipefail
cd "$(dirname "$0")/.."
AXE=4.14.1

if ! command -v chromium >/dev/null; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo 'install chromium: only root with apt-get can do so here' >&2
    exit 1
  fi
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium
fi
if ! grep -qs "axe v$AXE" .cache/axe/axe.min.js; then
  command -v npm >/dev/null || { echo 'install npm: axe-core is one of its packages' >&2; exit 1; }
  mkdir -p .cache/axe
  (cd .cache/axe && npm pack --silent "axe-core@$AXE" >/dev/null)
  tar -xzf ".cache/axe/axe-core-$AXE.tgz" -C .cache/axe --strip-components=1 package/axe.min.js
  rm ".cache/axe/axe-core-$AXE.tgz"
fi
