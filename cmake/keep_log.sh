#!/bin/sh
# Runs a compiler and keeps what it says on stderr in a file; shows it only when the compiler fails.
# usage: keep_log.sh FILE COMMAND [ARGUMENT...]
log="$1"
shift
if "$@" 2>"$log"; then
  exit 0
fi
status=$?
cat "$log" >&2
exit "$status"
