//! `assay eval rekey`: transfers the answers of a recording to the questions of this version.

use std::path::PathBuf;

use anyhow::{Context, bail};
use assay_engine::config::review_files_on_disk;
use assay_engine::evaluation::brief_files::file_name;
use assay_engine::evaluation::case_repository::CaseRepository;
use assay_engine::evaluation::questions::rekey;
use assay_engine::evaluation::set_folder::read_set;
use assay_engine::evaluation::transcripts::{ANSWERS, Transcripts};
use assay_engine::wording::count;

use super::{note, print};
use crate::exit::Exit;
use crate::process::environment;

/// Arguments of `assay eval rekey`.
#[derive(clap::Args)]
pub(super) struct RekeyArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// The recording: a folder with `answers.jsonl`
    recording: PathBuf,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(super) fn run(args: &RekeyArgs) -> anyhow::Result<Exit> {
    let cases = read_set(&args.set)?;
    let Some(mut transcripts) = Transcripts::read(&args.recording)? else {
        bail!("`{}` contains no `{ANSWERS}`", args.recording.display());
    };
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let settings = review_files_on_disk(&root)?;
    let (mut open, mut earlier) = (Vec::new(), 0);
    for case in &cases {
        let Some(transcript) = transcripts.cases.get_mut(&case.id) else { continue };
        let repository = CaseRepository::new(environment(), &args.set, case, &settings)?;
        let (rekeyed, unanswered) = rekey(case, &repository, transcript)
            .with_context(|| format!("cannot rekey case `{}`", case.id))?;
        earlier += rekeyed.answers.iter().filter(|it| it.earlier_wording).count();
        open.extend(unanswered.iter().map(|it| file_name(&case.id, &it.brief)));
        *transcript = rekeyed;
    }
    transcripts.write(&args.recording)?;
    let all: usize = transcripts.cases.values().map(|it| it.answers.len()).sum();
    print(&format!(
        "{} in `{}`, {earlier} of them given to an earlier wording of the question\n",
        count(all, "answer"),
        args.recording.display()
    ))?;
    if open.is_empty() {
        return Ok(Exit::Ready);
    }
    note(&format!("questions without an answer in the recording: {}", open.join(", ")));
    Ok(Exit::Incomplete)
}
