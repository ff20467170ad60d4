# Sends a mail; sourced.

# send_mail RECIPIENT SUBJECT, the body comes from stdin. Fails if the mail is refused.
send_mail() {
    mail -s "$2" -- "$1"
}
