//! Dockerfiles: [`code`] keeps the commands of `RUN` in the form of a shell.

use super::BlankCopy;

/// Returns the shell commands of a Dockerfile, each at its place.
pub(super) fn code(text: &str) -> String {
    let mut copy = BlankCopy::new(text);
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line.trim_end_matches(['\n', '\r'])));
        at += line.len();
    }
    let mut next = 0;
    while let Some((start, line)) = lines.get(next).copied() {
        next += 1;
        let Some(command) = run_command(line) else {
            // The other lines of an instruction that is not kept.
            if !is_comment(line) {
                while lines.get(next - 1).is_some_and(|(_, line)| continues(line))
                    && lines.get(next).is_some()
                {
                    next += 1;
                }
            }
            continue;
        };
        if let Some(end_mark) = here_document(&line[command..]) {
            while let Some((start, line)) = lines.get(next).copied() {
                next += 1;
                if line.trim() == end_mark {
                    break;
                }
                copy.keep(start, start + line.len());
            }
            continue;
        }
        copy.keep(start + command, start + line.len());
        let mut goes_on = continues(line);
        while let Some((start, line)) = lines.get(next).copied().filter(|_| goes_on) {
            next += 1;
            // Comments and blank lines do not end the instruction.
            if is_comment(line) || line.trim().is_empty() {
                copy.write(start + line.len().saturating_sub(1), &b"\\"[..line.len().min(1)]);
                continue;
            }
            copy.keep(start, start + line.len());
            goes_on = continues(line);
        }
    }
    copy.into_text()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

fn continues(line: &str) -> bool {
    line.trim_end().ends_with('\\') && !is_comment(line)
}

/// Returns the start of the command of an instruction `RUN`, behind its options; `None` for other
/// lines, and for commands that run without a shell.
fn run_command(line: &str) -> Option<usize> {
    let trimmed = line.trim_start();
    let word = trimmed.get(..3).filter(|word| word.eq_ignore_ascii_case("run"))?;
    let mut rest = trimmed[word.len()..].strip_prefix([' ', '\t'])?.trim_start();
    while let Some(option) = rest.strip_prefix("--") {
        rest = option.split_once([' ', '\t']).map_or("", |(_, rest)| rest).trim_start();
    }
    (!rest.starts_with('[')).then(|| line.len() - rest.len())
}

/// Returns the mark that ends a here document which is the whole command.
fn here_document(command: &str) -> Option<&str> {
    let mark = command.trim().strip_prefix("<<")?;
    let mark = mark.strip_prefix('-').unwrap_or(mark).trim_matches(['"', '\'']);
    let is_word = !mark.is_empty() && mark.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_word.then_some(mark)
}
