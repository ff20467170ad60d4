#!/usr/bin/env bash
# Removes old backups, see docs/backup-rotation.md.
set -euo pipefail

. "$(dirname "$0")/lib.sh"

keep=7

[ $# -eq 1 ] || die "usage: rotate-backups.sh FOLDER"
folder=$1
[ -d "$folder" ] || die "no such folder: $folder"

# The names contain the date, so the order of the names is the order in time.
list_newest_first() {
    find "$folder" -maxdepth 1 -type f \
        -name 'shop-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9].tar.gz' | sort -r
}

removed=0
while IFS= read -r backup; do
    rm -- "$backup"
    log "removed $backup"
    removed=$((removed + 1))
done < <(list_newest_first | tail -n +"$keep")

log "removed $removed backups"
