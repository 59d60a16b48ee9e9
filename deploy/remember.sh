#!/bin/sh
# remember.sh FILE: commits the state file of `shelfish refresh` if it changed, and pushes it to the current branch. GH_TOKEN
# contains the token of GitHub; without GH_TOKEN, git uses the remote's own credentials.
set -eu
file=$1
git add -- "$file"
if git diff --cached --quiet -- "$file"; then
  echo "$file has not changed"
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
