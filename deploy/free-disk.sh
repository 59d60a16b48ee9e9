#!/bin/sh
# free-disk.sh [ROOT]: removes tools that a runner of GitHub has and a refresh does not need, about 25 GB. ROOT is for tests.
set -eu
root=${1:-}
as_root=
if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then as_root=sudo; fi
for folder in usr/share/dotnet usr/share/swift usr/local/lib/android usr/local/.ghcup opt/ghc opt/hostedtoolcache/CodeQL; do
  $as_root rm -rf "$root/$folder"
done
df -h .
