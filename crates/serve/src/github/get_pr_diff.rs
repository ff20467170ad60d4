//! `github_get_pr_diff`: the diff of a pull request.

use std::sync::Arc;

use assay_services::github::{ChangedFile, DiffTooLarge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GithubTools, to_refusal};
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of bytes of a diff in one answer.
const MAX_ANSWER_BYTES: usize = 100_000;

/// The maximum number of files in the list of files without a diff.
const MAX_LISTED_FILES: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The repository, as owner/name; optional if exactly one is configured.
    #[serde(default)]
    #[schemars(with = "String", length(min = 3, max = 140))]
    repo: Option<String>,
    /// The number of the pull request.
    #[schemars(range(min = 1))]
    pr_number: u64,
    /// The byte of the diff to start at: the `next_offset` of the last answer, or 0.
    #[serde(default)]
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The diff, or the next part of it.
    diff: String,
    /// The byte at which the next part starts, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    next_offset: Option<usize>,
    /// The size of the whole diff in bytes.
    total_bytes: usize,
    /// Files whose diff GitHub does not return because it is too large.
    without_diff: Vec<String>,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_get_pr_diff",
        "Returns the diff of a pull request, in the unified format. A long diff is returned in \
         parts: call the tool again with the returned offset.",
        Effect::Reads,
        move |input| get(&tools, &input),
    )
}

fn get(tools: &GithubTools, input: &Input) -> Result<Output, Refusal> {
    let repository = tools.repository(input.repo.as_deref())?;
    let number = input.pr_number;
    let failed = |error| to_refusal(&error, "github_get_pr_diff");
    let (diff, without_diff) = match tools.github.diff(&repository, number).map_err(failed)? {
        Ok(diff) => (diff, Vec::new()),
        // A diff that is too large as a whole can still be read file by file.
        Err(DiffTooLarge) => {
            let (files, more) = tools.github.files(&repository, number).map_err(failed)?;
            let (diff, mut without) = join_diffs(&files);
            let unnamed = without.len().saturating_sub(MAX_LISTED_FILES);
            without.truncate(MAX_LISTED_FILES);
            if unnamed > 0 {
                without.push(format!("and {unnamed} more"));
            }
            if more {
                without.push(format!("and all files after the first {}", files.len()));
            }
            (diff, without)
        }
    };
    Ok(page_of_diff(&diff, input.offset, without_diff))
}

fn join_diffs(files: &[ChangedFile]) -> (String, Vec<String>) {
    let (mut diff, mut without) = (String::new(), Vec::new());
    for file in files {
        let new = &file.filename;
        let old = file.previous_filename.as_ref().unwrap_or(new);
        let nowhere = "/dev/null".to_owned();
        let (from, to) = match file.status.as_str() {
            "added" => (nowhere, format!("b/{new}")),
            "removed" => (format!("a/{old}"), nowhere),
            _ => (format!("a/{old}"), format!("b/{new}")),
        };
        match &file.patch {
            Some(patch) => diff.push_str(&format!(
                "diff --git a/{old} b/{new}\n--- {from}\n+++ {to}\n{}\n",
                patch.trim_end_matches('\n')
            )),
            None => without.push(new.clone()),
        }
    }
    (diff, without)
}

/// Returns a part of a diff, which ends at the end of a line unless the line is longer than a part.
fn page_of_diff(diff: &str, offset: usize, without_diff: Vec<String>) -> Output {
    let total_bytes = diff.len();
    let start = diff.ceil_char_boundary(offset.min(total_bytes));
    let end = diff.floor_char_boundary((start + MAX_ANSWER_BYTES).min(total_bytes));
    let line = diff[start..end].rfind('\n').map(|at| start + at + 1);
    let end = if end == total_bytes { end } else { line.unwrap_or(end) };
    let next_offset = (end < total_bytes).then_some(end);
    Output { diff: diff[start..end].to_owned(), next_offset, total_bytes, without_diff }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_diff_concatenate_to_the_diff() {
        let diff: String = (0..40_000).map(|number| format!("+ äöü {number}\n")).collect();
        let (mut read, mut offset) = (String::new(), Some(0));
        while let Some(at) = offset {
            let next = page_of_diff(&diff, at, Vec::new());
            assert!(next.diff.len() <= MAX_ANSWER_BYTES);
            read.push_str(&next.diff);
            offset = next.next_offset;
        }
        assert_eq!(read, diff);
        assert_eq!(page_of_diff(&diff, usize::MAX, Vec::new()).diff, "");
    }
}
