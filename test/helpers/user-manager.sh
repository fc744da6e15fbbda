#!/bin/sh
# Runs a command under a systemd user manager of its own: in a mount namespace whose /run is empty, so that nothing of the machine
# is touched. Ends the manager and what it started. For root, in `unshare --mount`.
set -eu
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system "/run/user/$(id -u)"
export XDG_RUNTIME_DIR="/run/user/$(id -u)"
manager=/lib/systemd/systemd
[ -x $manager ] || manager=/usr/lib/systemd/systemd
$manager --user --log-target=null >/dev/null 2>&1 </dev/null &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null || true' EXIT
until systemctl --user is-system-running 2>/dev/null | grep -qE '^(running|degraded)$'; do
  kill -0 $pid || exit 98
  sleep 0.1
done
"$@"
