#!/usr/bin/env bash
# Mails the errors of the day, see docs/error-digest.md.
set -euo pipefail

. "$(dirname "$0")/mail.sh"

if [ $# -ne 2 ]; then
    echo "usage: error-digest.sh LOG RECIPIENT" >&2
    exit 2
fi
log=$1
recipient=$2

errors=$(mktemp)
trap 'rm -f -- "$errors"' EXIT

# grep exits with 1 if no line matches and with 2 or more on an error.
status=0
grep -aF -- ' ERROR ' "$log" > "$errors" || status=$?
if [ "$status" -gt 1 ]; then
    echo "cannot read $log" >&2
    exit "$status"
fi
if [ "$status" -eq 1 ]; then
    exit 0
fi

count=$(wc -l < "$errors")
{
    printf '%d errors in %s, the last ones:\n\n' "$count" "$log"
    tail -n 20 -- "$errors"
} | send_mail "$recipient" "Errors in $(basename -- "$log")"
