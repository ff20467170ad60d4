//! The commands in the text of a comment: [`find_commands`].
//!
//! A command is a line of its own that a reader of the rendered comment sees as text. Lines in
//! quotes, lists, code and HTML comments are none.

use std::fmt;
use std::ops::Range;

use assay_base::markdown::{self, Block, InlineKind, Kind};
use assay_base::text::truncate;
use assay_findings::write::escape;
use serde::{Deserialize, Serialize};

/// The word at the beginning of a command; letter case is ignored.
const PREFIX: &str = "/assay";

/// The maximum number of commands in a comment.
const MAX_COMMANDS: usize = 5;

/// The maximum length of the reason of a dismissal, in characters.
const MAX_REASON_CHARS: usize = 500;

/// The maximum length of a word that is repeated in an answer, in characters.
const MAX_WORD_CHARS: usize = 40;

/// A command in a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum CommentCommand {
    /// Review the last commit of the pull request again.
    Review,
    /// Explain a finding.
    Explain {
        /// The id of the finding, or a prefix of the id.
        finding: String,
    },
    /// Dismiss a finding.
    Dismiss {
        /// The id of the finding, or a prefix of the id.
        finding: String,
        /// The reason, on one line and without credentials.
        reason: String,
    },
    /// List the commands.
    Help,
    /// A command that cannot be carried out.
    Invalid {
        /// The command as it is repeated in the answer.
        text: String,
        /// The reason, without text of the comment.
        problem: String,
    },
}

/// Formats the command as it is written in a comment.
impl fmt::Display for CommentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommentCommand::Review => write!(f, "{PREFIX} review"),
            CommentCommand::Explain { finding } => write!(f, "{PREFIX} explain {finding}"),
            CommentCommand::Dismiss { finding, reason } => {
                write!(f, "{PREFIX} dismiss {finding} {reason}")
            }
            CommentCommand::Help => write!(f, "{PREFIX} help"),
            CommentCommand::Invalid { text, .. } => f.write_str(text),
        }
    }
}

impl CommentCommand {
    /// Returns true if the command may lead to another review.
    pub(super) fn may_review(&self) -> bool {
        match self {
            CommentCommand::Review | CommentCommand::Dismiss { .. } => true,
            CommentCommand::Explain { .. }
            | CommentCommand::Help
            | CommentCommand::Invalid { .. } => false,
        }
    }

    /// Parses the words behind `/assay`.
    fn parse(words: &str) -> CommentCommand {
        let (name, rest) = split_word(words);
        let (finding, reason) = split_word(rest);
        let finding = to_id(finding);
        let invalid = |problem: &str| CommentCommand::Invalid {
            text: format!("{PREFIX} {}", truncate(&escape::one_line(name), MAX_WORD_CHARS)),
            problem: problem.to_owned(),
        };
        match name.to_ascii_lowercase().as_str() {
            "" | "help" => CommentCommand::Help,
            "review" if rest.is_empty() => CommentCommand::Review,
            "review" => invalid("`review` takes no further words"),
            "explain" | "dismiss" if finding.is_empty() => {
                invalid("the id of a finding is missing, or is not one")
            }
            "explain" if reason.is_empty() => CommentCommand::Explain { finding },
            "explain" => invalid("`explain` takes one id"),
            "dismiss" if reason.is_empty() => invalid("the reason of the dismissal is missing"),
            "dismiss" => {
                // A credential is redacted before a cut makes it unrecognisable.
                let reason = assay_rules::redact(&escape::one_line(reason)).into_owned();
                CommentCommand::Dismiss { finding, reason: truncate(&reason, MAX_REASON_CHARS) }
            }
            _ => invalid("the command is unknown"),
        }
    }
}

/// Splits the first word off a text.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// Returns the id that a word names, which may be copied with its back-ticks; empty if the word is
/// no id.
fn to_id(word: &str) -> String {
    let id = word.trim_matches('`').to_ascii_lowercase();
    let is_id = id.len() <= MAX_WORD_CHARS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { id } else { String::new() }
}

/// Returns the commands in the text of a comment, each once and in their order. If there are too
/// many, the last one says so.
pub(super) fn find_commands(body: &str) -> Vec<CommentCommand> {
    let lines: Vec<(usize, &str)> = command_lines(body).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let document = markdown::read(body);
    if document.is_flat() {
        return Vec::new();
    }
    let comments = document.comments();
    let is_text = |at: usize| {
        let mut blocks = document.blocks().iter().filter(|block| block.parent.is_none());
        let block = blocks.find(|block| block.range.contains(&at));
        block.is_some_and(|block| is_text_at(block, at)) && !is_within(&comments, at)
    };
    let mut commands: Vec<CommentCommand> = Vec::new();
    let written = lines.into_iter().filter(|(at, _)| is_text(*at));
    for command in written.map(|(_, words)| CommentCommand::parse(words)) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    if commands.len() > MAX_COMMANDS {
        let first = &commands[MAX_COMMANDS];
        let text = truncate(&first.to_string(), 2 * MAX_WORD_CHARS);
        let problem = format!(
            "a comment may have {MAX_COMMANDS} commands; this one and those after it were not \
             carried out"
        );
        commands.truncate(MAX_COMMANDS);
        commands.push(CommentCommand::Invalid { text, problem });
    }
    commands
}

/// Returns the lines that begin with `/assay`, each with the offset of that word and the words
/// behind it.
fn command_lines(body: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    let lines = body.split_inclusive(['\n', '\r']).map(move |line| {
        let start = end;
        end += line.len();
        (start, line)
    });
    lines.filter_map(|(start, line)| {
        let text = line.trim_start_matches(' ');
        let words = text.get(PREFIX.len()..)?;
        let is_command = text[..PREFIX.len()].eq_ignore_ascii_case(PREFIX)
            && (words.trim().is_empty() || words.starts_with(char::is_whitespace));
        is_command.then(|| (start + line.len() - text.len(), words))
    })
}

/// Returns true if a byte of a block is text, and not within code or HTML.
fn is_text_at(block: &Block<'_>, at: usize) -> bool {
    let is_text = match block.kind {
        // A line above dashes is a heading.
        Kind::Paragraph | Kind::Heading(_) => true,
        Kind::Item { .. }
        | Kind::Quote
        | Kind::Code(_)
        | Kind::Table(_)
        | Kind::Html(_)
        | Kind::Rule
        | Kind::Definition => false,
    };
    let mut inlines = block.inlines.iter();
    is_text
        && !inlines.any(|inline| {
            matches!(inline.kind, InlineKind::Code(_) | InlineKind::Html(_))
                && inline.range.contains(&at)
        })
}

fn is_within(ranges: &[Range<usize>], at: usize) -> bool {
    ranges.iter().any(|range| range.contains(&at))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[track_caller]
    fn check(body: &str, expected: Expect) {
        let commands = find_commands(body).into_iter().map(|command| match &command {
            CommentCommand::Invalid { problem, .. } => format!("{command} ({problem})\n"),
            _ => format!("{command}\n"),
        });
        expected.assert_eq(&commands.collect::<String>());
    }

    #[test]
    fn each_command_has_its_words() {
        check(
            "/assay review\r\n/assay explain `ADAC26`\n  /Assay Dismiss adac  only  our names\n\n\
             /assay\n/assay help please",
            expect![[r#"
                /assay review
                /assay explain adac26
                /assay dismiss adac only our names
                /assay help
            "#]],
        );
        check(
            "Please:\n/assay review\n---\nThanks",
            expect![[r#"
            /assay review
        "#]],
        );
    }

    #[test]
    fn a_command_that_cannot_be_carried_out_has_the_reason() {
        check(
            "/assay reveiw\n/assay review now\n/assay explain\n/assay explain @ops\n\
             /assay explain ad ac\n/assay dismiss ad\n/assay dismiss because",
            expect![[r#"
                /assay reveiw (the command is unknown)
                /assay review (`review` takes no further words)
                /assay explain (the id of a finding is missing, or is not one)
                /assay explain (`explain` takes one id)
                /assay dismiss (the reason of the dismissal is missing)
                /assay dismiss (a comment may have 5 commands; this one and those after it were not carried out)
            "#]],
        );
    }

    #[test]
    fn quotes_lists_code_and_hidden_text_have_no_command() {
        for body in [
            "> /assay review",
            "> quoted\n/assay review",
            "- /assay review",
            "- item\n/assay review",
            "```\n/assay review\n```",
            "```\n/assay review",
            "~~~ sh\n/assay review\n~~~",
            "    /assay review",
            "`code\n/assay review`",
            "<!--\n/assay review\n-->",
            "text <!--\n/assay review\n-->",
            "<details>\n/assay review\n</details>",
            "Write /assay review",
            "/assayer review",
            "//assay review",
            "\\/assay review",
            "",
        ] {
            assert_eq!(find_commands(body), [], "{body}");
        }
    }

    #[test]
    fn repeated_commands_count_once_and_too_many_are_refused() {
        check(
            "/assay review\n\n/assay review",
            expect![[r#"
            /assay review
        "#]],
        );
        let many: String = (0..9).map(|number| format!("/assay explain a{number}\n")).collect();
        check(
            &many,
            expect![[r#"
            /assay explain a0
            /assay explain a1
            /assay explain a2
            /assay explain a3
            /assay explain a4
            /assay explain a5 (a comment may have 5 commands; this one and those after it were not carried out)
        "#]],
        );
    }

    #[test]
    fn a_reason_is_short_visible_and_without_credentials() {
        let token = ["ghp_", "x7Kp9QmZ2vLr4TnB8wYc3HdF6sJg1RaE5uNb"].concat();
        let body = format!("/assay dismiss ad known\u{202e} {token} {}", "x".repeat(2_000));
        let [CommentCommand::Dismiss { reason, .. }] = &find_commands(&body)[..] else { panic!() };
        assert!(reason.starts_with("known\\u{202e} "), "{reason}");
        assert!(!reason.contains(&token[4..]), "{reason}");
        assert_eq!(reason.chars().count(), MAX_REASON_CHARS + 1);
    }

    proptest! {
        #[test]
        fn any_text_before_the_word_makes_a_line_no_command(
            before in "[^ \n\r/]{1,9}", body in any::<String>(),
        ) {
            let line = format!("{before}/assay review");
            prop_assert!(find_commands(&line).is_empty());
            let commands = find_commands(&body);
            prop_assert!(commands.len() <= MAX_COMMANDS + 1);
        }
    }
}
