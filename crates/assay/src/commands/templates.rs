//! `assay findings templates list|show|test`: the texts that all findings of one kind share.

use std::fmt::Write as _;
use std::path::PathBuf;

use assay_engine::template_catalogue::{TemplateCatalogue, TemplateTest};
use assay_engine::wording::count;
use assay_findings::template::{ClaimFacts, FindingTemplate};
use assay_findings::write::escape;
use clap::Subcommand;
use serde::Serialize;

use super::{print_json, print_safely};
use crate::exit::Exit;
use crate::terminal::{TableWidth, table};

/// The version of the JSON output.
const VERSION: u32 = 1;

/// Subcommands of `assay findings templates`.
#[derive(Subcommand)]
pub(crate) enum Templates {
    /// List all templates, with their titles
    List(ListArgs),
    /// Show a template: texts, link, and the findings that it matches
    Show(ShowArgs),
    /// Run the examples of all templates, or show which template matches a title
    Test(TestArgs),
}

/// Arguments of `assay findings templates list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings templates show`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// The name of the template, such as `sql-injection`
    #[arg(value_name = "NAME")]
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings templates test`.
#[derive(clap::Args)]
pub(crate) struct TestArgs {
    /// The title of a finding, to show which template matches
    #[arg(value_name = "TITLE")]
    title: Option<String>,
    /// The rule of that finding, such as `bandit/B608`
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The JSON output of `assay findings templates list` and `show`.
#[derive(Serialize)]
struct TemplatesDocument<'a> {
    version: u32,
    templates: Vec<ListedTemplate<'a>>,
}

#[derive(Serialize)]
struct ListedTemplate<'a> {
    #[serde(flatten)]
    template: &'a FindingTemplate,
    source: &'static str,
}

pub(crate) fn run(command: &Templates) -> anyhow::Result<Exit> {
    match command {
        Templates::List(args) => list(args),
        Templates::Show(args) => show(args),
        Templates::Test(args) => test(args),
    }
}

fn source(is_own: bool) -> &'static str {
    if is_own { "repository" } else { "built in" }
}

fn print_document<'a>(
    templates: impl Iterator<Item = (&'a FindingTemplate, bool)>,
) -> anyhow::Result<()> {
    let templates =
        templates.map(|(template, is_own)| ListedTemplate { template, source: source(is_own) });
    print_json(&TemplatesDocument { version: VERSION, templates: templates.collect() })
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let catalogue = TemplateCatalogue::open(&args.folder)?;
    if args.json {
        print_document(catalogue.templates())?;
        return Ok(Exit::Ready);
    }
    let row = |(template, is_own): (&FindingTemplate, bool)| {
        vec![template.name.clone(), source(is_own).to_owned(), template.title.clone()]
    };
    let rows: Vec<Vec<String>> = catalogue.templates().map(row).collect();
    print_safely(&table(&["TEMPLATE", "SOURCE", "TITLE"], &rows, TableWidth::on_stdout()))?;
    let number = count(rows.len(), "template");
    print_safely(&format!("{number}; `assay findings templates show TEMPLATE`\n"))?;
    Ok(Exit::Ready)
}

fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let catalogue = TemplateCatalogue::open(&args.folder)?;
    let (template, is_own) = catalogue.find(&args.name)?;
    match args.json {
        true => print_document(std::iter::once((template, is_own)))?,
        false => print_safely(&escape::escape_hidden(&describe(template, is_own)))?,
    }
    Ok(Exit::Ready)
}

fn describe(template: &FindingTemplate, is_own: bool) -> String {
    let mut text = format!("{}: {}\n", template.name, escape::one_line(&template.title));
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {}", escape::one_line(value));
    };
    fact("source", source(is_own));
    fact("explanation", &template.explanation);
    fact("fix", &template.fix);
    fact("link", template.link.as_deref().unwrap_or("none"));
    let criteria = &template.criteria;
    let cwe: Vec<String> = criteria.cwe.iter().map(|number| format!("CWE-{number}")).collect();
    let rules: Vec<String> = criteria.rules.iter().cloned().map(String::from).collect();
    let claims: Vec<String> = criteria.claims.iter().cloned().map(String::from).collect();
    push_list(&mut text, "rules", &rules);
    push_list(&mut text, "CWE ids", &cwe);
    push_list(&mut text, "categories", &criteria.categories);
    push_list(&mut text, "words of the title", &claims);
    text
}

fn push_list(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = write!(text, "\nmatches {title}:\n");
    for item in items {
        let _ = writeln!(text, "    {}", escape::one_line(item));
    }
}

fn test(args: &TestArgs) -> anyhow::Result<Exit> {
    let catalogue = TemplateCatalogue::open(&args.folder)?;
    if args.title.is_some() || args.rule.is_some() {
        return test_finding(args, &catalogue);
    }
    let tests = catalogue.test();
    let mut text = String::new();
    for test in tests.iter().filter(|test| !test.failed.is_empty()) {
        push_test(&mut text, test);
    }
    let failed = tests.iter().filter(|test| !test.failed.is_empty()).count();
    let untested = tests.iter().filter(|test| test.examples == 0).count();
    let passed = tests.len() - failed - untested;
    let _ = writeln!(text, "{passed} passed, {failed} failed, {untested} without examples");
    print_safely(&escape::escape_hidden(&text))?;
    Ok(if failed == 0 { Exit::Ready } else { Exit::NotReady })
}

fn push_test(text: &mut String, test: &TemplateTest) {
    let _ = writeln!(text, "failed {}", test.name);
    for reason in &test.failed {
        let _ = writeln!(text, "    {}", escape::one_line(reason));
    }
}

fn test_finding(args: &TestArgs, catalogue: &TemplateCatalogue) -> anyhow::Result<Exit> {
    let mut facts = ClaimFacts::of_title(args.title.as_deref().unwrap_or_default());
    facts.rules.extend(args.rule.as_deref());
    let text = match catalogue.recognise(&facts) {
        Some((template, method)) => {
            let title = escape::one_line(&template.title);
            format!("{}: {title} (by {})\n", template.name, method.as_str())
        }
        None => "no template matches\n".to_owned(),
    };
    print_safely(&text)?;
    Ok(Exit::Ready)
}
