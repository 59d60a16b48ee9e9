#!/bin/sh
# remember.sh FILE: commits what `shelfish refresh` remembers, if it changed, and pushes it to the current branch. The token of
# GitHub is in GH_TOKEN; without, the remote is used as it is.
set -eu
file=$1
git add -- "$file"
if git diff --cached --quiet -- "$file"; then
  echo "$file is as it was"
  exit 0
fi
hash=$(sed -n 's/.*"integrity": "\(.*\)".*/\1/p' "$file")
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  commit --quiet --message "Published $hash" -- "$file"
if [ -n "${GH_TOKEN:-}" ]; then
  header="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GH_TOKEN" | base64 | tr -d '\n')"
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.https://github.com/.extraheader" GIT_CONFIG_VALUE_0=$header git push --quiet origin HEAD
else
  git push --quiet origin HEAD
fi
