#!/bin/sh
# Runs one Kafka node in the foreground: run-node.sh LOG_FILE JAVA_ARGUMENT...
# Prints the node's process id. The node dies with whoever holds this script's standard input,
# so that a killed test leaves no broker behind. Exits with the node's status.
log=$1
shift
exec 3<&0
java "$@" >"$log" 2>&1 3<&- &
node=$!
echo "$node"
(cat <&3 >/dev/null; kill -9 "$node" 2>/dev/null) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$node"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
