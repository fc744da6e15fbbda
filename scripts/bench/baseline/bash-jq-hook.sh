#!/usr/bin/env bash
# The hook that people write without us: reads the inbox, prints what is unread, marks it read. One jq to look, so that the
# empty case is cheap, one to mark, one to print.
set -euo pipefail

cat >/dev/null
inbox="${GEMINI_PROJECT_DIR:-$PWD}/.gemini/wa_inbox.json"
[ -s "$inbox" ] || { echo '{}'; exit 0; }

context=$(jq -r '.messages[] | select(.read | not) | "[\(.timestamp)] \(.from): \(.text)"' "$inbox")
[ -n "$context" ] || { echo '{}'; exit 0; }

tmp=$(mktemp "$inbox.XXXXXX")
jq '.messages |= map(.read = true)' "$inbox" >"$tmp"
mv "$tmp" "$inbox"

jq -n --arg context "$context" \
  '{hookSpecificOutput: {hookEventName: "BeforeAgent", additionalContext: ("Messages from the phone:\n" + $context)}}'
