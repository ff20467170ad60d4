# Helpers of the backup scripts; sourced.

# Prints a message with the time to stderr.
log() {
    printf '%s %s\n' "$(date +%FT%T)" "$*" >&2
}

# Prints a message and ends the script with an error.
die() {
    log "error: $*"
    exit 1
}
