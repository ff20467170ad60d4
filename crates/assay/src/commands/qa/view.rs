//! The output of `assay qa`: progress, result and status of a loop.

use std::time::Duration;

use anyhow::Context;
use assay_base::text::first_chars;
use assay_checks::check::{CheckOutcome, CheckState};
use assay_engine::loop_session::{LoopOutcome, SpecLocation, UNKNOWN_STATE};
use assay_engine::queues;
use assay_engine::wording::count;
use assay_findings::write::escape::one_line;
use assay_validate::criterion::CriterionLine;
use assay_validate::ending::Ending;
use assay_validate::environment::LoopObserver;
use assay_validate::event::ReviewResult;
use assay_validate::export::Exporter;
use assay_validate::file_names::{ESCALATION, FIX_REQUEST};
use assay_validate::issue::Issue;
use assay_validate::loop_state::LoopState;
use assay_validate::loop_status::LoopStatus;
use assay_validate::metrics::Metrics;
use assay_validate::spec;
use assay_validate::tree_hash::TreeHash;

use super::{Args, Form};
use crate::commands::{print_json, print_safely, warn};
use crate::exit::Exit;
use crate::output;
use crate::terminal::{BOLD, DIM, GREEN, RED, YELLOW};

/// The maximum number of issues and files in the output; the artifacts have all.
const MAX_LISTED: usize = 20;

/// The maximum length of a fixer's output that is shown, in characters.
const MAX_FIXER_OUTPUT: usize = 80;

/// Prints the progress of a loop.
pub(super) struct ProgressPrinter {
    spec: String,
    is_verbose: bool,
}

impl ProgressPrinter {
    pub(super) fn new(place: &SpecLocation, is_verbose: bool) -> ProgressPrinter {
        ProgressPrinter { spec: place.spec.name.clone(), is_verbose }
    }
}

impl LoopObserver for ProgressPrinter {
    fn on_tree_changed(&self, waited_for: &Ending) {
        print_line(&format!(
            "{}: the tree changed since the loop stopped ({}); validating it again",
            one_line(&self.spec),
            one_line(&waited_for.reason())
        ));
    }

    fn on_round(&self, number: u32) {
        print_line(&format!("{BOLD}{}, round {number}{BOLD:#}", one_line(&self.spec)));
    }

    fn on_check_started(&self, name: &str) {
        print_line(&format!("  {DIM}running{DIM:#}   {}", one_line(name)));
    }

    fn on_check_finished(&self, outcome: &CheckOutcome) {
        let (style, word, why) = match &outcome.state {
            CheckState::Passed => (GREEN, "passed", describe_tests(outcome)),
            CheckState::Failed { why } => (RED, "failed", why.clone()),
            CheckState::NotRun { why } => (YELLOW, "not run", why.clone()),
            CheckState::TimedOut => (RED, "timed out", "the check was killed".to_owned()),
        };
        let took = match outcome.duration_ms {
            // Times below a second are not interesting.
            ..1_000 => String::new(),
            ms => format!(" {DIM}{}{DIM:#}", format_duration(Duration::from_millis(ms))),
        };
        let name = one_line(&outcome.name);
        let why = if why.is_empty() { why } else { format!(": {}", one_line(&why)) };
        print_line(&format!("  {style}{word:<9}{style:#} {name}{why}{took}"));
        if !outcome.also.is_empty() {
            let also: Vec<&str> = outcome.also.iter().map(|kind| kind.name()).collect();
            let also = also.join(", ");
            print_line(&format!("  {DIM}reused{DIM:#}    {also}: same command, not run again"));
        }
        if self.is_verbose {
            let said = outcome.tail.lines().map(one_line);
            said.for_each(|said| print_line(&format!("            {DIM}{said}{DIM:#}")));
        }
    }

    fn on_review_started(&self) {
        print_line(&format!("  {DIM}reviewing{DIM:#} the change and its criteria"));
    }

    fn on_review_finished(&self, seen: &ReviewResult) {
        let met = seen.criteria.iter().filter(|line| line.is_met()).count();
        let criteria = match seen.criteria.len() {
            1 => format!("{met} of 1 criterion met"),
            all => format!("{met} of {all} criteria met"),
        };
        if self.is_verbose {
            seen.criteria.iter().for_each(|criterion| print_line(&describe_criterion(criterion)));
        }
        if seen.issues.is_empty() && seen.remarks.is_empty() {
            print_line(&format!("  {GREEN}no issues{GREEN:#}, {criteria}"));
            return;
        }
        if seen.issues.is_empty() {
            let found = count(seen.remarks.len(), "finding");
            print_line(&format!("  {GREEN}no blocking issues{GREEN:#}, {found}, {criteria}"));
            seen.remarks
                .iter()
                .take(MAX_LISTED)
                .for_each(|remark| print_line(&describe_issue(remark)));
            return;
        }
        let issues = count(seen.issues.len(), "issue");
        print_line(&format!("  {RED}rejected{RED:#}  {issues}, {criteria}"));
        seen.issues.iter().take(MAX_LISTED).for_each(|issue| print_line(&describe_issue(issue)));
        let more = seen.issues.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            print_line(&format!("    and {more} more, in {FIX_REQUEST}"));
        }
        if !seen.remarks.is_empty() {
            let found = count(seen.remarks.len(), "finding");
            print_line(&format!("    and {found} without blocking effect, in {FIX_REQUEST}"));
        }
    }

    fn on_fix_started(&self, issues: usize) {
        print_line(&format!("  {DIM}fixing{DIM:#}    {}", count(issues, "issue")));
    }

    fn on_fix_finished(&self, said: &str) {
        // The output of the fixer decides nothing, but may interest the user.
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        if let Some(last) = last {
            let last = one_line(last.trim());
            let last = first_chars(&last, MAX_FIXER_OUTPUT);
            print_line(&format!("  {DIM}output    {last}{DIM:#}"));
        }
    }

    fn on_fix_applied(&self, files: &[String], left_out: &[String]) {
        match files {
            [] => print_line(&format!("  {YELLOW}not fixed{YELLOW:#} no file was changed")),
            files => print_line(&format!("  {GREEN}fixed{GREEN:#}     {}", list_files(files))),
        }
        if !left_out.is_empty() {
            let left_out = list_files(left_out);
            print_line(&format!(
                "  {YELLOW}discarded{YELLOW:#} {left_out}: not allowed for the fixer"
            ));
        }
    }

    fn on_error(&self, why: &str) {
        print_line(&format!("  {YELLOW}aborted{YELLOW:#}   {}", one_line(why)));
    }
}

/// Prints a line.
fn print_line(text: &str) {
    let text = assay_rules::redact(text);
    output::write_styled(format!("{text}\n").as_bytes());
}

fn describe_issue(issue: &Issue) -> String {
    let place = issue.place().map(|place| format!("  {DIM}{}{DIM:#}", one_line(&place)));
    let (kind, severity) = (issue.kind.name(), issue.severity.name());
    let title = one_line(&issue.title);
    format!("    - {title} {DIM}({kind}, {severity}){DIM:#}{}", place.unwrap_or_default())
}

fn describe_criterion(criterion: &CriterionLine) -> String {
    let word = if criterion.is_met() { "met" } else { "not met" };
    let (text, evidence) = (one_line(&criterion.text), one_line(&criterion.evidence));
    format!("  {word:<9} {text} {DIM}({evidence}){DIM:#}")
}

fn list_files(files: &[String]) -> String {
    let shown: Vec<String> = files.iter().take(MAX_LISTED).map(|file| one_line(file)).collect();
    match files.len().saturating_sub(MAX_LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn describe_tests(outcome: &CheckOutcome) -> String {
    let alone = || outcome.exit_code.map(|_| "exit code only".to_owned());
    let ran = outcome.tests.as_ref().map(|tests| count(tests.totals.ran(), "test"));
    let is_measured = outcome.coverage.is_some();
    let ran = if is_measured { ran } else { ran.or_else(alone) };
    let covered = outcome.coverage.as_ref().map(|measured| format!("{} covered", measured.total));
    [ran, covered].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn format_duration(took: Duration) -> String {
    match took.as_secs() {
        0..60 => format!("{:.1} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Prints the result of a run.
pub(super) fn print_outcome(
    place: &SpecLocation,
    form: Form,
    loop_outcome: &LoopOutcome,
    standing: &LoopState,
) -> anyhow::Result<()> {
    if form == Form::Json {
        return print_json(&Exporter { spec: &place.spec, loop_state: standing }.status());
    }
    let rounds = count(standing.epoch().len(), "round");
    match loop_outcome {
        LoopOutcome::AlreadyApproved => {
            print_line(&format!(
                "{GREEN}APPROVED{GREEN:#} already, the tree is unchanged{}",
                tree_suffix(standing)
            ));
        }
        LoopOutcome::Ended(Ending::Approved) => {
            print_line(&format!(
                "{GREEN}APPROVED{GREEN:#} after {rounds}{}",
                tree_suffix(standing)
            ));
        }
        LoopOutcome::Waits(ending) => {
            print_reason("Waiting for a person", ending);
            if standing.stopped_at.is_some() {
                let round = standing.round;
                print_line(&format!(
                    "  tree      not changed since the loop stopped in round {round}"
                ));
            }
            print_next_steps(place, ending, standing);
        }
        LoopOutcome::Ended(ending) => {
            print_reason("A person is needed", ending);
            print_next_steps(place, ending, standing);
        }
    }
    Ok(())
}

fn tree_suffix(standing: &LoopState) -> String {
    match &standing.state {
        LoopStatus::Approved(TreeHash(tree)) => format!(" {DIM}(tree {tree}){DIM:#}"),
        _ => String::new(),
    }
}

fn print_reason(lead: &str, ending: &Ending) {
    print_line(&format!("{YELLOW}{lead}{YELLOW:#}: {}", one_line(&ending.reason())));
}

/// Prints the files and commands for a person who has to decide.
fn print_next_steps(place: &SpecLocation, ending: &Ending, standing: &LoopState) {
    let folder = place.spec.folder.display();
    let name = one_line(&place.spec.name);
    print_line(&format!("  read      {folder}/{ESCALATION}"));
    let command = format!("assay qa --spec {name}");
    match ending {
        Ending::AwaitsSignOff => {
            print_line(&format!("  sign off  {command} --sign-off \"YOUR NAME\""));
        }
        // Each decision is printed below with its command.
        Ending::AwaitsDecision => {}
        _ => ending
            .actions()
            .iter()
            .for_each(|it| print_line(&format!("  to do     {}", one_line(it)))),
    }
    print_line(&format!("  continue  {command}, after any change of the files"));
    print_line(&format!("  resume    {command} --resume, if no file must change"));
    let open = standing.issues();
    for issue in open.iter().filter(|issue| issue.remedy.can_be_decided()).take(MAX_LISTED) {
        let title = one_line(&issue.title).replace('"', "\\\"").replace('`', "\\`");
        print_line(&format!(
            "  decide    assay qa --spec {name} --sign-off \"YOUR NAME\" --for \"{title}\" --because \"REASON\""
        ));
    }
}

/// Prints the status of a spec.
pub(super) fn status(place: &SpecLocation, form: Form) -> anyhow::Result<Exit> {
    place.recover(&warn)?;
    let status = place.status()?;
    match form {
        Form::Text => print_safely(&status.text())?,
        Form::Json => print_safely(&status.json())?,
    }
    Ok(Exit::Ready)
}

/// Prints metrics of all loops so far.
pub(super) fn metrics(args: &Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let folders = match &args.spec {
        Some(prefix) => vec![spec::find(&root, prefix)?],
        None => spec::all(&root)?,
    };
    let metrics = Metrics::over(&root, &folders).context(UNKNOWN_STATE)?;
    match args.format {
        Form::Text => print_safely(&metrics.text())?,
        Form::Json => print_json(&metrics)?,
    }
    Ok(Exit::Ready)
}
