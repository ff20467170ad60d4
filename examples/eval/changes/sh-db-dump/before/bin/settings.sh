# Settings of the dump; sourced.
DATABASE_URL=${DATABASE_URL:?DATABASE_URL is not set}
DUMP_FOLDER=${DUMP_FOLDER:-/var/backups/orders}
UPLOAD_TARGET=${UPLOAD_TARGET:?UPLOAD_TARGET is not set}
