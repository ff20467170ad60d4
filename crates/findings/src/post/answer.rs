//! The answer to a comment with commands: [`explain`] describes a finding for people, and
//! [`answer`] joins the results of all commands of the comment.

use assay_base::text::truncate;

use super::MAX_BODY_BYTES;
use super::comment;
use super::marker::Marker;
use crate::finding::Finding;
use crate::write::escape;

/// The maximum number of votes in an explanation.
const MAX_VOTES: usize = 20;
/// The maximum length of the name of a reviewer and of a severity, in characters.
const MAX_NAME_CHARS: usize = 60;
/// The maximum length of the claim of a vote, and of an outcome, in characters.
const MAX_CLAIM_CHARS: usize = 300;

/// The text of a result for which the answer has no room.
const NO_ROOM: &str = "_This result exceeds the size limit of a comment. Write fewer commands in one comment, or see \
     `assay findings show`._";

/// The vote of a reviewer for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedVote {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The severity, as the reviewer wrote it.
    pub severity: String,
    /// The confidence in per cent; `None` if the reviewer gave none.
    pub confidence: Option<u8>,
    /// The title that the reviewer gave the finding; empty if it gave none.
    pub claim: String,
}

/// Explains a finding in Markdown: its outcome, claim, evidence, trace, fix, votes and template.
pub fn explain(finding: &Finding, outcome: &str, votes: &[ExplainedVote]) -> String {
    let outcome = escape::escape_comment(&truncate(outcome, MAX_CLAIM_CHARS));
    comment::explanation(finding, &outcome, votes_list(votes))
}

/// Returns the votes as a list; `None` if there are none.
fn votes_list(votes: &[ExplainedVote]) -> Option<String> {
    if votes.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = votes.iter().take(MAX_VOTES).map(vote_line).collect();
    if votes.len() > MAX_VOTES {
        lines.push(format!("- {} more", votes.len() - MAX_VOTES));
    }
    Some(format!("**Votes**\n\n{}", lines.join("\n")))
}

fn vote_line(vote: &ExplainedVote) -> String {
    let name = |text: &str| escape::escape_comment(&truncate(text, MAX_NAME_CHARS));
    let confidence = vote.confidence.map(|percent| format!(", confidence {percent}"));
    let claim = escape::escape_comment(&truncate(&vote.claim, MAX_CLAIM_CHARS));
    let claim = if claim.is_empty() { claim } else { format!(": {claim}") };
    let (reviewer, severity) = (name(&vote.reviewer), name(&vote.severity));
    format!("- {reviewer}: {severity}{}{claim}", confidence.unwrap_or_default())
}

/// Returns the body of the answer to a comment, which is recognised by the id of that comment. Each
/// result is Markdown whose text of others is escaped; a result without room is left out, and the
/// answer says so.
pub fn answer(comment: u64, results: &[String]) -> String {
    let marker = Marker::Answer(comment).to_string();
    let mut room =
        MAX_BODY_BYTES.saturating_sub(marker.len() + results.len() * (NO_ROOM.len() + 2));
    let mut pieces = Vec::new();
    for result in results {
        match room.checked_sub(result.len() + 2) {
            Some(left) => {
                room = left;
                pieces.push(result.as_str());
            }
            None => pieces.push(NO_ROOM),
        }
    }
    pieces.push(&marker);
    pieces.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::super::marker;
    use super::*;

    #[test]
    fn votes_are_listed_with_inert_text() {
        let vote = |reviewer: &str, confidence, claim: &str| ExplainedVote {
            reviewer: reviewer.to_owned(),
            severity: "HIGH".to_owned(),
            confidence,
            claim: claim.to_owned(),
        };
        let votes = [vote("rules", None, ""), vote("security", Some(75), "Ask @ops\n# Title")];
        assert_eq!(
            votes_list(&votes).unwrap(),
            "**Votes**\n\n- rules: HIGH\n- security: HIGH, confidence 75: Ask @&#8203;ops \
             \\#&#8203; Title"
        );
        let many = vec![vote("rules", None, ""); MAX_VOTES + 2];
        assert!(votes_list(&many).unwrap().ends_with("\n- 2 more"));
        assert_eq!(votes_list(&[]), None);
    }

    #[test]
    fn an_answer_has_the_marker_of_its_comment_and_fits_into_a_comment() {
        let short = answer(7, &["One.".to_owned(), "Two.".to_owned()]);
        assert_eq!(short, "One.\n\nTwo.\n\n<!-- assay:answer 7 -->");
        let long = answer(7, &["x".repeat(MAX_BODY_BYTES), "Two.".to_owned()]);
        assert_eq!(long, format!("{NO_ROOM}\n\nTwo.\n\n<!-- assay:answer 7 -->"));
        let several = answer(7, &vec!["x".repeat(MAX_BODY_BYTES / 2); 9]);
        assert!(several.len() <= MAX_BODY_BYTES, "{}", several.len());
        assert_eq!(marker::read(&several), Some(Marker::Answer(7)));
    }
}
