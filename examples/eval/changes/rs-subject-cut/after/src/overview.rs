//! Lines of the ticket overview.

use crate::ticket::Ticket;

const SUBJECT_BYTES: usize = 40;
const DOTS: &str = "...";
const HOUR_SECS: u64 = 3600;

/// Returns the subject on one line, shortened to the width of the column.
fn shorten(subject: &str) -> String {
    let line: String = subject
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.len() <= SUBJECT_BYTES {
        return line;
    }
    let end = SUBJECT_BYTES - DOTS.len();
    format!("{}{}", &line[..end], DOTS)
}

fn age(ticket: &Ticket) -> String {
    let hours = ticket.age.as_secs() / HOUR_SECS;
    if hours < 48 {
        format!("{hours} h")
    } else {
        format!("{} d", hours / 24)
    }
}

/// Returns the line of one ticket.
pub fn line(ticket: &Ticket) -> String {
    format!(
        "#{:<7} {:<40} {:>6}",
        ticket.number,
        shorten(&ticket.subject),
        age(ticket)
    )
}

/// Returns the overview, one line per ticket.
pub fn overview(tickets: &[Ticket]) -> String {
    let lines: Vec<String> = tickets.iter().map(line).collect();
    lines.join("\n")
}
