//! Concerns that a persona leaves to another one: [`brief_for`] retains such entries only if the
//! other one reads.
//!
//! In the section `## What you leave alone` an entry that begins with the name of a persona in
//! brackets, `- [security] Markup injection.`, applies only to a run in which that persona reads
//! the change. In any other run the entry is left out, so that no defect is missed by both.

/// The heading of the section with such entries.
const HEADING: &str = "## What you leave alone";

/// Returns the text of a persona for a run; `reads` returns true if the persona with a name reads
/// in it.
pub(super) fn brief_for(brief: &str, reads: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(brief.len());
    let mut is_inside = false;
    let mut is_dropped = false;
    for line in brief.lines() {
        if line.starts_with("## ") {
            is_inside = line.trim() == HEADING;
        }
        // The indented lines below an entry belong to it.
        is_dropped &= line.starts_with(' ');
        match entry(line).filter(|_| is_inside) {
            Some((name, text)) if reads(name) => {
                out.push_str(&format!("- Left to `{name}`: {text}\n"));
            }
            Some(_) => is_dropped = true,
            None if is_dropped => {}
            None => out.extend([line, "\n"]),
        }
    }
    out.trim_end().to_owned()
}

/// Returns the names of the personas that a text leaves concerns to.
pub(super) fn referenced_personas(brief: &str) -> impl Iterator<Item = &str> {
    let section = brief.split_once(HEADING).map_or("", |(_, section)| section);
    let section = section.split("\n## ").next().unwrap_or("");
    section.lines().filter_map(|line| Some(entry(line)?.0))
}

/// Parses an entry that is left to a persona: the name, and the concern.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.strip_prefix("- [")?.split_once("] ")?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, text.trim_start()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const BRIEF: &str = "## What you hunt\n\n- [security] stays\n\n## What you leave alone\n\n- Style.\n- [security] Markup\n  injection.\n- [testing] Missing tests.\n- [a link](x) and [ ] a box\n";

    fn check(reads: &[&str], expected: Expect) {
        expected.assert_eq(&brief_for(BRIEF, |name| reads.contains(&name)));
    }

    #[test]
    fn an_entry_is_kept_only_if_the_persona_that_it_names_takes_part() {
        check(
            &["security"],
            expect![[r#"
                ## What you hunt

                - [security] stays

                ## What you leave alone

                - Style.
                - Left to `security`: Markup
                  injection.
                - [a link](x) and [ ] a box"#]],
        );
        check(
            &[],
            expect![[r#"
                ## What you hunt

                - [security] stays

                ## What you leave alone

                - Style.
                - [a link](x) and [ ] a box"#]],
        );
    }

    #[test]
    fn the_personas_referenced_in_the_section_are_found() {
        assert_eq!(referenced_personas(BRIEF).collect::<Vec<_>>(), ["security", "testing"]);
    }
}
