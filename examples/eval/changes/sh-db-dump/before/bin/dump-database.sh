#!/usr/bin/env bash
# Dumps the order database.
set -eu

. "$(dirname "$0")/settings.sh"

name="orders-$(date -u +%Y%m%d).sql"
pg_dump --no-owner --dbname="$DATABASE_URL" --file="$DUMP_FOLDER/$name"
echo "dumped $name"
