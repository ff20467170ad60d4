//! The prompts of a review as files, without a call to a model: [`preview_prompts`].
//!
//! A preview has the first prompt of each reviewer for each part of the change. Look-ups, further
//! answers to the same conversation and second looks depend on replies, so that they have no
//! preview.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use assay_change::Change;
use assay_findings::report::{Report, ReviewerKind};
use assay_models::{Nonce, Prompt};

use crate::leads::Leads;
use crate::reviewer::{ReadDecision, Reviewer};

/// A prompt as a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPreview {
    /// The name of the file: the reviewer and the number of the part.
    pub file_name: String,
    /// The instructions, the message, the tools and the schema of the answer, each with a heading.
    pub text: String,
}

/// The reason why prompts were not written.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The folder has files.
    #[error("cannot write prompts to `{}`: the folder is not empty; choose a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// A file cannot be written.
    #[error("cannot write prompts to `{}`", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Returns the prompts of all reviewers that read a change. The rules read the change first,
/// because models get their findings.
pub fn preview_prompts(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
) -> io::Result<Vec<PromptPreview>> {
    let nonce = Nonce::draw()?;
    let leads = leads_from_rules(reviewers, change);
    let reads = |by: &dyn Reviewer| matches!(by.interest(change), ReadDecision::Reads(_));
    let previews = reviewers.iter().filter(|by| reads(&***by)).flat_map(|by| {
        by.set_leads(&leads);
        let prompts = by.prompts(change).into_iter().zip(1..);
        prompts.map(|(prompt, part): (Prompt, usize)| PromptPreview {
            file_name: format!("{}-{part}.md", by.name()),
            text: prompt_text(&prompt, &nonce),
        })
    });
    Ok(previews.collect())
}

/// Writes prompts to a folder that is new or empty.
pub fn write_prompts(folder: &Path, prompts: &[PromptPreview]) -> Result<(), PreviewError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| PreviewError::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
        return Err(PreviewError::NotEmpty(folder.to_owned()));
    }
    for PromptPreview { file_name, text } in prompts {
        let path = folder.join(file_name);
        fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(())
}

/// Returns the findings of the rules among some reviewers.
pub(crate) fn leads_from_rules(reviewers: &[Box<dyn Reviewer>], change: &Change) -> Leads {
    let rules = reviewers.iter().filter(|by| by.kind() == ReviewerKind::Rules);
    let reports: Vec<Report> = rules.map(|by| by.review(change, &|_| {}).report).collect();
    Leads::of(&reports)
}

/// Formats a prompt, in the order in which it is sent.
fn prompt_text(prompt: &Prompt, nonce: &Nonce) -> String {
    let mut text = format!("# Instructions\n\n{}\n\n# Message\n\n", prompt.system);
    prompt.blocks.iter().for_each(|block| text += &block.text(nonce));
    let mut put = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("writing to a string works");
    };
    for tool in &prompt.tools {
        let (name, about, arguments) = (&tool.name, &tool.description, &tool.arguments);
        put(format_args!("\n\n# Tool {name}\n\n{about}\n\n{arguments:#}"));
    }
    if let Some(schema) = &prompt.schema {
        put(format_args!("\n\n# Schema of the answer\n\n{schema:#}"));
    }
    put(format_args!("\n"));
    text
}
