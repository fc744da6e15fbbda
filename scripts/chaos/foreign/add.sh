#!/bin/sh
# Another program that appends an entry as people write it: no id, no timestamp, no lock, readable for everybody.
# `add.sh FILE FLAG TEXT SECONDS`; FLAG is read or sent.
file=$1
umask 022
snapshot=$(cat "$file" 2>/dev/null)
[ -n "$snapshot" ] || snapshot='{"messages":[]}'
sleep "$4"
mine=$(mktemp "$(dirname "$file")/add.XXXXXX") || exit 1
chmod 644 "$mine"
if printf '%s' "$snapshot" | jq --arg text "$3" --arg flag "$2" '.messages += [{text: $text, ($flag): false}]' >"$mine" &&
  mv "$mine" "$file"; then
  exit 0
fi
rm -f "$mine"
exit 1
