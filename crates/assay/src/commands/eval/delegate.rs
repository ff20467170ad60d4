//! `assay eval delegate`: an agent reads the cases of a set over MCP, and is scored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use assay_engine::config::review_files_on_disk;
use assay_engine::evaluation::answering::{CaseQuestions, Unanswered};
use assay_engine::evaluation::brief_files::{BriefFolder, file_name};
use assay_engine::evaluation::case_output::CaseOutput;
use assay_engine::evaluation::case_repository::CaseRepository;
use assay_engine::evaluation::delegated_set::DelegatedSet;
use assay_engine::evaluation::reviewers::output_of;
use assay_engine::evaluation::transcripts::RecordingFolder;
use assay_engine::wording::count;
use assay_eval::formats::parse_output;
use assay_eval::matching::MatchRule;
use assay_eval::report::{EvalReport, ReviewerResults, evaluate};
use assay_eval::set::Case;
use assay_eval::summary::SummaryOptions;
use assay_eval::table;
use assay_review::delegation::Brief;
use assay_review::delegation::transcript::ReviewTranscript;
use assay_serve::review;

use super::run::{check_out, chosen, write_file, write_report};
use super::{ScoringArgs, name_of, note, read_set};
use crate::commands::mcp::serve_stdio;
use crate::exit::Exit;
use crate::process::environment;

/// The row of the agent in the table, and the folder of its outputs.
const DELEGATED: &str = "delegated";

/// The set, and where the results go.
#[derive(clap::Args)]
pub(super) struct DelegateArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Write findings, scores and a page into this folder; cases that have findings there are not
    /// handed out again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Hand out these cases only, by their ids
    #[arg(long = "case", value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Record the answers into this folder, so that `assay eval SET --replay DIR` replays the reviews
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Write the questions as files into this folder and read the answers from files beside them, in
    /// the place of a server; run the command again until no question is open
    #[arg(long, value_name = "DIR")]
    briefs: Option<PathBuf>,
    /// The name of the model that answers the briefs
    #[arg(long, value_name = "NAME", default_value = "", requires = "briefs")]
    model: String,
    /// Ask one plain question about each diff in the place of a review
    #[arg(long, requires = "briefs")]
    question: bool,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

/// The score of what was handed in so far.
#[derive(Clone)]
struct Scorer {
    set: String,
    cases: Vec<Case>,
    out: PathBuf,
    rule: MatchRule,
    figures: SummaryOptions,
}

pub(super) fn run(args: &DelegateArgs) -> anyhow::Result<Exit> {
    let cases = chosen(read_set(&args.set)?, &args.only)?;
    let earlier = args.scoring.earlier()?;
    check_out(&args.out)?;
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let scorer = Scorer {
        set: name_of(&args.set),
        cases: cases.clone(),
        out: args.out.clone(),
        rule: args.scoring.rule()?,
        figures: args.scoring.figures.into(),
    };
    let finished = scorer.finished()?;
    // The folder is known as one of results from the beginning.
    scorer.score(&finished)?;
    let record = args.record.as_deref().map(RecordingFolder::open).transpose()?;
    let settings = review_files_on_disk(&root)?;
    if let Some(briefs) = &args.briefs {
        return answer_files(
            args,
            &scorer,
            &settings,
            &BriefFolder::open(briefs)?,
            record.as_ref(),
        );
    }
    let keeper = scorer.clone();
    let keep = Box::new(move |id: &str, output: CaseOutput, answers: Option<ReviewTranscript>| {
        if let Some((record, answers)) = record.as_ref().zip(answers) {
            record.add([(id.to_owned(), answers)])?;
        }
        if let Some((text, ending)) = &output.kept {
            write_file(&keeper.folder().join(format!("{id}.{ending}")), text)?;
        }
        keeper.score(&keeper.finished()?)?;
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
    note(&format!("{left} of {} changes are to be reviewed", scorer.cases.len()));
    serve_stdio(&review::server(set.clone(), env!("CARGO_PKG_VERSION")))?;
    let report = scorer.score(&scorer.finished()?)?;
    // Stdout belongs to the protocol.
    note(&table::render(&report));
    let exit = args.scoring.exit(&report, earlier.as_ref(), &[]);
    Ok(match (exit, set.open_cases()) {
        (Exit::Ready, 1..) => Exit::Incomplete,
        (exit, _) => exit,
    })
}

/// Hands in the answers that lie beside the briefs, writes the briefs of the questions that are open,
/// and scores the cases that are decided.
fn answer_files(
    args: &DelegateArgs,
    scorer: &Scorer,
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
    let (mut decided, mut open) = (BTreeMap::new(), Vec::new());
    for case in &scorer.cases {
        let repository = CaseRepository::new(environment(), &args.set, case, settings)?;
        let mut source = |brief: &Brief| briefs.answer(&case.id, brief);
        let answered = questions
            .ask(case, &repository, Unanswered::Wait, &mut source)
            .with_context(|| format!("the case `{}`", case.id))?;
        for question in &answered.open {
            briefs.write(&case.id, question)?;
            open.push(file_name(&case.id, &question.brief));
        }
        scorer.forget(&case.id)?;
        if let Some((output, answers)) = answered.ended {
            decided.insert(case.id.clone(), answers);
            if let Some((text, ending)) = &output.kept {
                write_file(&scorer.folder().join(format!("{}.{ending}", case.id)), text)?;
            }
        }
    }
    if let Some(record) = record {
        record.add(decided)?;
    }
    let report = scorer.score(&scorer.finished()?)?;
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

impl Scorer {
    /// Removes the output of a case.
    fn forget(&self, id: &str) -> anyhow::Result<()> {
        let Some(path) = output_of(&self.folder(), id)? else { return Ok(()) };
        std::fs::remove_file(&path)
            .with_context(|| format!("could not replace `{}`", path.display()))
    }

    fn folder(&self) -> PathBuf {
        self.out.join(DELEGATED)
    }

    /// Returns the ids of the cases that have an output.
    fn finished(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut finished = BTreeSet::new();
        for case in &self.cases {
            if output_of(&self.folder(), &case.id)?.is_some() {
                finished.insert(case.id.clone());
            }
        }
        Ok(finished)
    }

    /// Scores the cases that are finished, and writes the report.
    fn score(&self, finished: &BTreeSet<String>) -> anyhow::Result<EvalReport> {
        let mut results = BTreeMap::new();
        for id in finished {
            let Some(path) = output_of(&self.folder(), id)? else { continue };
            results.insert(id.clone(), read_output(&path));
        }
        let cases: Vec<Case> =
            self.cases.iter().filter(|case| finished.contains(&case.id)).cloned().collect();
        let name = DELEGATED.to_owned();
        let reviewer = ReviewerResults { name, results, ..ReviewerResults::default() };
        let report = evaluate(&self.set, &cases, &[reviewer], self.rule.clone(), self.figures);
        write_report(&self.out, &report)?;
        Ok(report)
    }
}

fn read_output(path: &Path) -> Result<assay_eval::score::CaseResult, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("could not be read: {error}"))?;
    let (text, _) = assay_findings::read::decode(&bytes);
    parse_output(&text).map_err(|error| error.to_string())
}
