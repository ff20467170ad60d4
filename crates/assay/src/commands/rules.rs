//! `assay rules list|show|explain|test`: the rules, and the examples of a repository's own rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use assay_engine::rule_catalogue::{
    ExampleOutcome, RuleCatalogue, RuleTest, test_repository_rules, test_rules,
};
use assay_engine::wording::count;
use assay_findings::write::escape;
use assay_rules::{INJECTION_RULE, RuleDescription, RuleFix};
use clap::Subcommand;
use serde::Serialize;

use super::{print_json, print_safely};
use crate::exit::Exit;
use crate::process::environment;
use crate::terminal::{TableWidth, table};

/// The version of the JSON output.
const VERSION: u32 = 1;

/// The number of examples of each kind that an explanation shows.
const EXPLAINED_EXAMPLES: usize = 1;

/// Subcommands of `assay rules`.
#[derive(Subcommand)]
pub(crate) enum Rules {
    /// List all rules, with their severities and titles
    List(ListArgs),
    /// Show a rule: severity, languages, message, fix and all examples
    Show(ShowArgs),
    /// Explain a rule: the reason, an example, and how to fix and to ignore a finding
    Explain(ShowArgs),
    /// Run the examples of the repository's own rules
    Test(TestArgs),
}

/// Arguments of `assay rules list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// List the rules that read files of this language
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay rules show` and `assay rules explain`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// The id of the rule, such as `python/sql-injection`
    #[arg(value_name = "RULE")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay rules test`.
#[derive(clap::Args)]
pub(crate) struct TestArgs {
    /// A rule file, or a folder of rule files [default: `.assay/rules` of the repository]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The JSON output of `assay rules list` and `assay rules show`.
#[derive(Serialize)]
struct RulesDocument<'a> {
    version: u32,
    rules: Vec<&'a RuleDescription>,
}

pub(crate) fn run(command: &Rules) -> anyhow::Result<Exit> {
    match command {
        Rules::List(args) => list(args),
        Rules::Show(args) => show(args, describe),
        Rules::Explain(args) => show(args, explain),
        Rules::Test(args) => test(args),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let catalogue = RuleCatalogue::open(environment(), &args.folder)?;
    let rules: Vec<&RuleDescription> = match &args.language {
        Some(name) => catalogue.of_language(name)?,
        None => catalogue.rules().iter().collect(),
    };
    if args.json {
        print_json(&RulesDocument { version: VERSION, rules })?;
        return Ok(Exit::Ready);
    }
    let rows: Vec<Vec<String>> = rules.iter().map(|rule| row(rule)).collect();
    print_safely(&table(&["RULE", "SEVERITY", "FIX", "TITLE"], &rows, TableWidth::on_stdout()))?;
    print_safely(&format!("{}; `assay rules explain RULE`\n", count(rules.len(), "rule")))?;
    Ok(Exit::Ready)
}

fn row(rule: &RuleDescription) -> Vec<String> {
    let severity = if rule.off { "off".to_owned() } else { rule.severity.clone() };
    let fix = rule.fix.map_or("-", |fix| match fix {
        RuleFix::Safe => "safe",
        RuleFix::Gated => "gated",
    });
    vec![rule.id.clone(), severity, fix.to_owned(), rule.title.clone()]
}

fn show(args: &ShowArgs, text: fn(&RuleDescription) -> String) -> anyhow::Result<Exit> {
    let catalogue = RuleCatalogue::open(environment(), &args.folder)?;
    let rules = catalogue.find(&args.id)?;
    if args.json {
        print_json(&RulesDocument { version: VERSION, rules })?;
    } else {
        let texts: Vec<String> = rules.into_iter().map(text).collect();
        print_safely(&escape::escape_hidden(&texts.join("\n")))?;
    }
    Ok(Exit::Ready)
}

/// Returns all facts about a rule, with all its examples.
fn describe(rule: &RuleDescription) -> String {
    let mut text = heading(rule);
    let mut fact = |name: &str, value: &str| {
        text.push_str(&format!("  {name:<10} {}\n", escape::one_line(value)));
    };
    fact("severity", &rule.severity);
    if let Some(tier) = rule.tier {
        fact("tier", &format!("{}, unless its data is known", tier.as_str()));
    }
    fact("category", &rule.category);
    fact("languages", &languages(rule));
    fact("kind", rule.kind.in_words());
    fact("source", &source(rule));
    fact("message", &rule.message);
    fact("advice", rule.advice.as_deref().unwrap_or("none"));
    fact("fix", fix(rule));
    push_examples(&mut text, "finds", &rule.bad);
    push_examples(&mut text, "does not find", &rule.good);
    text
}

/// Explains a rule: the reason, an example, the fix, and the ways to ignore a finding.
fn explain(rule: &RuleDescription) -> String {
    let mut text = heading(rule);
    let severity = format!("{}, {}", rule.severity, rule.category);
    let _ = writeln!(text, "  {} ({severity})", escape::one_line(&rule.message));
    push_examples(&mut text, "bad", first(&rule.bad));
    push_examples(&mut text, "good", first(&rule.good));
    text.push_str("\nhow to fix:\n");
    let advice = rule.advice.as_deref().unwrap_or("The rule has no advice.");
    let _ = writeln!(text, "  {}", escape::one_line(advice));
    let _ = writeln!(text, "  {}", fix(rule));
    text.push_str("\nhow to ignore:\n");
    for way in ways_to_ignore(rule) {
        let _ = writeln!(text, "  {way}");
    }
    text
}

fn first(examples: &[String]) -> &[String] {
    &examples[..examples.len().min(EXPLAINED_EXAMPLES)]
}

fn heading(rule: &RuleDescription) -> String {
    let off = if rule.off { " [off in this repository]" } else { "" };
    format!("{}: {}{off}\n", escape::one_line(&rule.id), escape::one_line(&rule.title))
}

fn languages(rule: &RuleDescription) -> String {
    match rule.languages.is_empty() {
        true => "every text file".to_owned(),
        false => rule.languages.join(", "),
    }
}

fn source(rule: &RuleDescription) -> String {
    rule.file.clone().unwrap_or_else(|| "built in".to_owned())
}

fn fix(rule: &RuleDescription) -> &'static str {
    match rule.fix {
        Some(RuleFix::Safe) => "`assay fix` applies the rewrite of this rule",
        Some(RuleFix::Gated) => "the review shows a rewrite; a person has to agree to the rewrite",
        None => "no rewrite: the code has to be changed by hand",
    }
}

fn push_examples(text: &mut String, title: &str, examples: &[String]) {
    if examples.is_empty() {
        return;
    }
    let _ = write!(text, "\n{title}:\n");
    for (at, example) in examples.iter().enumerate() {
        let separator = if at == 0 { "" } else { "    --\n" };
        text.push_str(separator);
        for line in example.trim_end().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
}

/// Returns the ways to ignore a finding of a rule, or the rule.
fn ways_to_ignore(rule: &RuleDescription) -> Vec<String> {
    let id = escape::one_line(&rule.id);
    let baseline = "one finding: `assay review --accept REASON` accepts findings into the baseline";
    let comment = format!("one finding: a comment `assay: ignore {id} REASON` on its line");
    let off = format!("the rule: `review.rules: {{{id}: off}}` in the configuration");
    let files = "in some files: `review.rule_paths` in the configuration";
    match rule.id == INJECTION_RULE {
        true => vec![baseline.to_owned()],
        false => vec![comment, baseline.to_owned(), off, files.to_owned()],
    }
}

fn test(args: &TestArgs) -> anyhow::Result<Exit> {
    let tests = match &args.path {
        Some(path) => test_rules(&args.folder.join(path))?,
        None => test_repository_rules(&args.folder)?,
    };
    let mut text = String::new();
    for test in &tests {
        push_test(&mut text, test);
    }
    let failed = tests.iter().filter(|test| is_failed(test)).count();
    let untested = tests.iter().filter(|test| test.outcome == ExampleOutcome::Untested).count();
    let passed = tests.len() - failed - untested;
    let _ = match tests.len() {
        0 => writeln!(text, "no rules in `.assay/rules`"),
        _ => writeln!(text, "{passed} passed, {failed} failed, {untested} without examples"),
    };
    print_safely(&escape::escape_hidden(&text))?;
    Ok(if failed == 0 { Exit::Ready } else { Exit::NotReady })
}

fn is_failed(test: &RuleTest) -> bool {
    matches!(test.outcome, ExampleOutcome::Failed(_))
}

fn push_test(text: &mut String, test: &RuleTest) {
    let file = escape::one_line(&test.file);
    let _ = match &test.outcome {
        ExampleOutcome::Passed(counts) => {
            let (invalid, valid) = (counts.invalid, counts.valid);
            writeln!(text, "passed   {file} ({invalid} invalid, {valid} valid)")
        }
        ExampleOutcome::Untested => writeln!(text, "untested {file} (no examples next to it)"),
        ExampleOutcome::Failed(why) => {
            writeln!(text, "failed   {file}\n{}", escape::indent(why, "    "))
        }
    };
}
