//! `assay eval delegate`: serves the cases of a set to an agent over MCP, and scores its reviews.

use std::path::PathBuf;
use std::sync::Arc;

use assay_engine::config::review_files_on_disk;
use assay_engine::evaluation::brief_files::BriefFolder;
use assay_engine::evaluation::case_output::CaseOutput;
use assay_engine::evaluation::delegated_results::DelegatedResults;
use assay_engine::evaluation::delegated_set::DelegatedSet;
use assay_engine::evaluation::questions::CaseQuestions;
use assay_engine::evaluation::results_folder::{check_results_folder, name_of};
use assay_engine::evaluation::set_folder::{read_set, select_cases};
use assay_engine::evaluation::transcripts::RecordingFolder;
use assay_engine::wording::count;
use assay_eval::table;
use assay_review::delegation::transcript::ReviewTranscript;
use assay_serve::review;

use super::{ScoringArgs, note};
use crate::commands::mcp::serve_stdio;
use crate::exit::Exit;
use crate::process::environment;

/// Arguments of `assay eval delegate`.
#[derive(clap::Args)]
pub(super) struct DelegateArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Write findings, scores and an HTML page into this folder; cases with findings there are
    /// skipped
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Serve only the cases with these ids
    #[arg(long = "case", value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Record the answers into this folder, so that `assay eval SET --replay DIR` can replay the
    /// reviews
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Write the questions as files into this folder, and read the answers from files there,
    /// instead of serving MCP; run the command again until all questions are answered
    #[arg(long, value_name = "DIR")]
    briefs: Option<PathBuf>,
    /// The name of the model that answers the briefs
    #[arg(long, value_name = "NAME", default_value = "", requires = "briefs")]
    model: String,
    /// Ask one plain question about each diff instead of a review
    #[arg(long, requires = "briefs")]
    question: bool,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

pub(super) fn run(args: &DelegateArgs) -> anyhow::Result<Exit> {
    let cases = select_cases(read_set(&args.set)?, &args.only)?;
    let earlier = args.scoring.earlier()?;
    check_results_folder(&args.out)?;
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let results = DelegatedResults {
        set: name_of(&args.set),
        cases: cases.clone(),
        out: args.out.clone(),
        rule: args.scoring.rule()?,
        figures: args.scoring.figures.into(),
    };
    let finished = results.finished()?;
    // Writes the report first, so that the folder is recognised as a folder of results.
    results.score()?;
    let record = args.record.as_deref().map(RecordingFolder::open).transpose()?;
    let settings = review_files_on_disk(&root)?;
    if let Some(briefs) = &args.briefs {
        let briefs = BriefFolder::open(briefs)?;
        return answer_files(args, &results, &settings, &briefs, record.as_ref());
    }
    let keeper = results.clone();
    let keep = Box::new(move |id: &str, output: CaseOutput, answers: Option<ReviewTranscript>| {
        if let Some((record, answers)) = record.as_ref().zip(answers) {
            record.add([(id.to_owned(), answers)])?;
        }
        keeper.keep(id, &output)?;
        keeper.score()?;
        Ok(())
    });
    let set = Arc::new(DelegatedSet::new(
        environment(),
        args.set.clone(),
        cases,
        settings,
        finished,
        keep,
    ));
    let left = set.open_cases();
    note(&format!("{left} of {} changes still to review", results.cases.len()));
    serve_stdio(&review::server(set.clone(), env!("CARGO_PKG_VERSION")))?;
    let report = results.score()?;
    // Stdout is used by the protocol.
    note(&table::render(&report));
    let exit = args.scoring.exit(&report, earlier.as_ref(), &[]);
    Ok(match (exit, set.open_cases()) {
        (Exit::Ready, 1..) => Exit::Incomplete,
        (exit, _) => exit,
    })
}

/// Reads the answers in the folder of briefs, writes the briefs of open questions, and scores the
/// cases that are decided.
fn answer_files(
    args: &DelegateArgs,
    results: &DelegatedResults,
    settings: &[(String, String)],
    briefs: &BriefFolder,
    record: Option<&RecordingFolder>,
) -> anyhow::Result<Exit> {
    let model = args.model.clone();
    let questions = match args.question {
        true => CaseQuestions::PlainQuestion { model },
        false => CaseQuestions::Review {
            model,
            purpose: None,
            personas: Vec::new(),
            each_persona: false,
        },
    };
    let set = &args.set;
    let open = results.take_answers(environment(), set, settings, &questions, briefs, record)?;
    let report = results.score()?;
    args.scoring.show(&report)?;
    let exit = args.scoring.exit(&report, args.scoring.earlier()?.as_ref(), &[]);
    let Some(first) = open.first() else { return Ok(exit) };
    note(&format!(
        "{} without an answer: read each brief, such as `{first}.brief.txt`, write the answer beside \
         it, as `{first}.answer.json`, and run the command again",
        count(open.len(), "question"),
    ));
    Ok(if exit == Exit::Ready { Exit::Incomplete } else { exit })
}
