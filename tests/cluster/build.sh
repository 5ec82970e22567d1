#!/usr/bin/env bash
# Builds the control planes of the named minors from the Go module proxy, once, into
# .cache/control-plane/<minor>/; without a minor, all that go/ has. Needs Go, nothing else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${DRACFG_CONTROL_PLANES:-$here/../../.cache/control-plane}

build() {
  local minor=$1 module=$here/go/$1 target stamp version start=$SECONDS
  [ -f "$module/go.mod" ] || { echo "no control plane $minor: see $here/go" >&2; return 2; }
  target=$cache/$minor
  stamp=$(cat "$module/go.mod" "$module/go.sum" "$here/build.sh" <(go version) | sha256sum)
  if [ "$(cat "$target/stamp" 2>/dev/null)" = "$stamp" ]; then
    echo "control plane $minor stands"
    return
  fi
  version=$(cd "$module" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  mkdir -p "$target"
  rm -f "$target/stamp"
  (
    cd "$module"
    # shellcheck disable=SC2046  # one package a word
    CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags "-s -w $(set_version "$version")" \
      -o "$target/" $(go list tool)
  )
  echo "$stamp" > "$target/stamp"
  echo "control plane $minor ($version) built in $((SECONDS - start)) s"
}

# What Kubernetes' own build writes into the binaries: /version tells it, kubectl compares it.
set_version() {
  local version=$1 package flags=() minor
  minor=${version#v1.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=("-X $package.gitVersion=$version" "-X $package.gitMajor=1" "-X $package.gitMinor=${minor%%.*}"
      "-X $package.gitTreeState=clean")
  done
  echo "${flags[*]}"
}

if [ $# -eq 0 ]; then
  set -- $(cd "$here/go" && printf '%s\n' 1.* | sort -V)
fi
for minor; do
  build "$minor"
done
