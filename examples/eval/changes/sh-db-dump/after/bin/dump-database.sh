#!/usr/bin/env bash
# Dumps the order database, see docs/database-dump.md.
set -eu

. "$(dirname "$0")/settings.sh"

name="orders-$(date -u +%Y%m%d).sql.gz"
partial=$(mktemp "$DUMP_FOLDER/.partial.XXXXXX")
trap 'rm -f -- "$partial"' EXIT

dump() {
    pg_dump --no-owner --dbname="$DATABASE_URL" | gzip -9 > "$partial"
}

publish() {
    chmod 0640 "$partial"
    mv -- "$partial" "$DUMP_FOLDER/$name"
}

upload() {
    rsync --times -- "$DUMP_FOLDER/$name" "$UPLOAD_TARGET/"
}

dump
publish
upload
echo "dumped $name"
