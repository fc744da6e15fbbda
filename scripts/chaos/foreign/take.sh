#!/bin/sh
# Another program that reads the inbox as its contract says: takes the oldest unread entry, marks it read, prints it.
# It knows nothing of locks, and it may be slow between reading and writing: `take.sh INBOX SECONDS`.
inbox=$1
snapshot=$(cat "$inbox") || exit 0
entry=$(printf '%s' "$snapshot" | jq -ce '[.messages[] | select((.read or .parked) | not)][0] // empty') || exit 0
sleep "$2"
mine=$(mktemp "$(dirname "$inbox")/take.XXXXXX") || exit 1
if printf '%s' "$snapshot" |
  jq --argjson taken "$entry" '(.messages[] | select(.id == $taken.id and .text == $taken.text)).read = true' >"$mine" &&
  mv "$mine" "$inbox"; then
  printf '%s\n' "$entry"
else
  rm -f "$mine"
fi
