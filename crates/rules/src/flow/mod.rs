//! Rules that follow data: [`follow`] finds untrusted data that reaches a sink.
//!
//! - `flow_rule`, `pattern`, `rule_set`: rules and shared lists, read from YAML; patterns of calls;
//!   all patterns of a language by name.
//! - `form`, `lowering`, `csharp`, `go`, `java`, `javascript`, `kotlin`, `php`, `python`,
//!   `ruby`, `rust`: the common form of functions, and the lowering of each language.
//! - `program`: the reviewed file and the files that it needs.
//! - `value`, `constants`, `address`: abstract values with their taint, the folding of constants, and
//!   addresses that are built from text.
//! - `parameters`: parameters of exported functions as sources.
//! - `uncovered_flows`, `guards`: data that reaches an untouched sink because the change removed a
//!   check.
//! - `interpreter`: the abstract interpreter, with `statements`, `expressions`, `assignments`,
//!   `conditions`, `loops` and `frame` (variables and exits); `calls`, with `sinks`, `sources`,
//!   `transfers`, `instances`, `function_calls`, `package_calls`, `text_calls` and `collection_calls`.
//!
//! Only functions that the change touches are run, and the functions of the same file that call
//! them. A function whose analysis exceeds its budget is reported as not covered.
//!
//! Limits: two names for one object are two values; the order of threads, reflection and values
//! that are stored outside of the program are not followed.

mod address;
mod assignments;
mod calls;
mod collection_calls;
mod conditions;
mod constants;
mod csharp;
mod expressions;
mod flow_rule;
mod form;
mod frame;
mod function_calls;
mod go;
mod guards;
mod instances;
mod interpreter;
mod java;
mod javascript;
mod kotlin;
mod loops;
mod lowering;
mod package_calls;
mod parameters;
mod pattern;
mod php;
mod program;
mod python;
mod ruby;
mod rule_set;
mod rust;
mod sinks;
mod sources;
mod statements;
mod text_calls;
mod transfers;
mod uncovered_flows;
mod value;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use assay_findings::grounding::squeeze;
use assay_findings::path::RepoPath;
use assay_findings::tier::EvidenceTier;
use assay_findings::trace::{TraceRole, TraceStep};
use assay_findings::vote::LineRange;

pub(crate) use self::flow_rule::{FlowLibrary, FlowRule};
use self::form::{FlowClass, FlowFunction};
use self::interpreter::{CodeSite, FlowInterpreter, SinkHit};
pub(crate) use self::program::FileLookup;
use self::program::{Program, ProgramFile};
pub(crate) use self::rule_set::FlowRules;
use self::uncovered_flows::FlowComparison;
use self::value::TaintPlace;
use crate::language::{Language, is_javascript};
use crate::rule_match::RuleMatch;
use crate::syntax::{LineSet, Syntax};

/// The result of following the data of a file.
#[derive(Default)]
pub(crate) struct FollowedData<'r> {
    /// The matches, each with its rule.
    pub(crate) matches: Vec<(&'r FlowRule, RuleMatch)>,
    /// The functions that were not followed to their ends, and why.
    pub(crate) not_covered: Vec<String>,
    /// The error of reading the file before the change.
    pub(crate) before_error: Option<String>,
    /// The expressions that build text and the calls that data must not reach, and whether the text
    /// or the data is always constant.
    constancy: Vec<(Range<usize>, bool)>,
    /// The calls and element accesses: text inside of one of them is not the value of the code
    /// around it.
    opaque_spans: Vec<Range<usize>>,
}

impl<'r> FollowedData<'r> {
    /// Adds a match, unless the same rule has the same match already, or the match is of weaker
    /// evidence than that of another rule at its place.
    fn add(&mut self, rule: &'r FlowRule, found: RuleMatch) {
        let is_weaker = found.tier == Some(EvidenceTier::Parameter);
        let is_known = self.matches.iter().any(|(other, known)| {
            (std::ptr::eq(*other, rule) || is_weaker)
                && known.lines == found.lines
                && known.code == found.code
        });
        if !is_known {
            self.matches.push((rule, found));
        }
    }

    /// Returns true if a piece of code builds text, or is a call that data must not reach, and all of
    /// this text or data is constant. Text that is built for a call or an element access within the
    /// code does not count: the value of `request.args["a" + "b"]` is not constant.
    pub(crate) fn builds_constants_only(&self, code: &Range<usize>) -> bool {
        let contains = |outer: &Range<usize>, inner: &Range<usize>| {
            outer.start <= inner.start && inner.end <= outer.end
        };
        let opaque: Vec<&Range<usize>> =
            self.opaque_spans.iter().filter(|span| *span != code && contains(code, span)).collect();
        let is_value = |span: &Range<usize>| {
            contains(code, span) && !opaque.iter().any(|outer| contains(outer, span))
        };
        let mut inside = self.constancy.iter().filter(|(span, _)| is_value(span)).peekable();
        inside.peek().is_some() && inside.all(|(_, is_constant)| *is_constant)
    }
}

/// A file whose data is followed.
pub(crate) struct FollowedFile<'a> {
    pub(crate) path: &'a RepoPath,
    pub(crate) text: &'a str,
    pub(crate) syntax: &'a Syntax,
    /// The added lines.
    pub(crate) touched: &'a LineSet,
    /// The places of all hunks: functions there are run.
    pub(crate) changed: &'a LineSet,
    /// Returns the file before the change; `None` if there is none.
    pub(crate) before: &'a (dyn Fn() -> Result<Option<EarlierFile>, String> + Sync),
}

/// A file before the change.
pub(crate) struct EarlierFile {
    pub(crate) text: String,
    /// The places of all hunks, by their lines before the change.
    pub(crate) changed: LineSet,
}

impl FlowRules {
    /// Returns true if a rule that follows data covers a structural rule.
    pub(crate) fn covers(&self, id: &str) -> bool {
        self.rules.iter().any(|rule| rule.covers.iter().any(|own| own == id))
    }
}

/// Returns true if data is followed in a language.
pub(crate) fn is_followed(language: Language) -> bool {
    is_javascript(language)
        || matches!(
            language,
            Language::CSharp
                | Language::Go
                | Language::Java
                | Language::Kotlin
                | Language::Php
                | Language::Python
                | Language::Ruby
                | Language::Rust
        )
}

/// Lowers a file: its classes, and the dotted names of its imports.
fn lower(
    syntax: &Syntax,
    path: &RepoPath,
    text: &str,
) -> (Vec<FlowClass>, HashMap<String, String>) {
    match syntax.language() {
        Language::CSharp => (csharp::lower(syntax), HashMap::new()),
        Language::Java => (java::lower(syntax), HashMap::new()),
        Language::Kotlin => (kotlin::lower(syntax), HashMap::new()),
        Language::Rust => rust::lower(syntax, text),
        Language::Go => go::lower(syntax),
        Language::Php => php::lower(syntax),
        Language::Python => python::lower(syntax),
        Language::Ruby => ruby::lower(syntax),
        language if is_javascript(language) => javascript::lower(syntax, path.as_str()),
        _ => (Vec::new(), HashMap::new()),
    }
}

/// The size of the stack on which data is followed: nested code needs nested calls.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Follows the data of the touched functions of a file, for the rules that are concerned.
pub(crate) fn follow<'r>(
    file: &FollowedFile<'_>,
    rules: &'r FlowRules,
    concerned: &[bool],
    lookup: &FileLookup<'_>,
) -> FollowedData<'r> {
    if !concerned.contains(&true) {
        return FollowedData::default();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, || follow_here(file, rules, concerned, lookup)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => FollowedData {
                not_covered: vec![format!("the data of {} was not followed: {error}", file.path)],
                ..FollowedData::default()
            },
        }
    })
}

fn follow_here<'r>(
    file: &FollowedFile<'_>,
    rules: &'r FlowRules,
    concerned: &[bool],
    lookup: &FileLookup<'_>,
) -> FollowedData<'r> {
    let mut followed = FollowedData::default();
    let own = ProgramFile::new(file.path.clone(), file.text.to_owned(), file.syntax);
    let entries = entries(&own, file.changed);
    let program = Program::new(file.syntax.language(), own, lookup);
    let mut interpreter = FlowInterpreter::new(rules, concerned, program);
    let mut is_complete = true;
    for function in &entries {
        if !interpreter.run_entry(function) {
            is_complete = false;
            let name = &function.name;
            let why = "its data was not followed to the end: the function is too large";
            followed.not_covered.push(format!("`{name}` in {} ({why})", file.path));
        }
    }
    followed.not_covered.append(&mut interpreter.program.missing);
    // In a function that was not followed to its end, no text is known to be constant.
    if is_complete {
        followed.constancy = interpreter.constancy.drain().collect();
        followed.opaque_spans = interpreter.opaque_spans.drain().collect();
    }
    // The strongest evidence for a place comes first.
    let mut hits = std::mem::take(&mut interpreter.hits);
    hits.sort_by_key(|hit| hit.tier);
    let mut untouched = Vec::new();
    for hit in hits {
        match rule_match(&hit, &interpreter, file.touched) {
            Some(found) => followed.add(&rules.rules[hit.rule], found),
            None => untouched.push(hit),
        }
    }
    // A function that was not followed to its end may lack a flow by chance.
    if is_complete && !untouched.is_empty() {
        let comparison = FlowComparison { file, rules, concerned, lookup };
        match uncovered_flows::new_flows(&comparison, untouched, &interpreter) {
            Ok(new) => {
                for (hit, note) in new {
                    if let Some(found) = uncovered_flows::rule_match(&hit, &interpreter, note) {
                        followed.add(&rules.rules[hit.rule], found);
                    }
                }
            }
            Err(error) => followed.before_error = Some(error),
        }
    }
    followed
}

/// Returns the functions that overlap touched lines, and those that reach them by calls.
fn entries(file: &ProgramFile, touched: &LineSet) -> Vec<Rc<FlowFunction>> {
    let all: Vec<&Rc<FlowFunction>> = file.functions().map(|(_, function)| function).collect();
    let is_touched = |function: &FlowFunction| {
        let (start, end) = function.lines;
        LineRange::range(start, end).is_some_and(|lines| touched.overlaps(lines))
    };
    let mut chosen: Vec<bool> = all.iter().map(|function| is_touched(function)).collect();
    loop {
        let names: HashSet<&str> = all
            .iter()
            .zip(&chosen)
            .filter(|(_, chosen)| **chosen)
            .map(|(function, _)| function.name.as_str())
            .collect();
        let calls = |function: &FlowFunction| {
            function.calls.iter().any(|call| names.contains(call.as_str()))
        };
        let next: Vec<bool> =
            all.iter().zip(&chosen).map(|(function, own)| *own || calls(function)).collect();
        if next == chosen {
            break;
        }
        chosen = next;
    }
    all.into_iter().zip(chosen).filter(|(_, own)| *own).map(|(own, _)| Rc::clone(own)).collect()
}

/// Creates the match of a hit: at the sink if the change touches it, else at the last touched place
/// on the way. Returns `None` if the change touches no place.
fn rule_match(
    hit: &SinkHit,
    interpreter: &FlowInterpreter<'_>,
    touched: &LineSet,
) -> Option<RuleMatch> {
    let places = places(hit.data.as_ref());
    if let Some(site) = site_of(hit, &places, interpreter, touched) {
        return match_at(&site, hit, interpreter);
    }
    let is_touched = |file: usize, line: u32| {
        file == 0 && LineRange::at(line).is_some_and(|lines| touched.overlaps(lines))
    };
    let place = places.iter().rev().find(|place| is_touched(place.file, place.line))?;
    let mut found = RuleMatch::on_line(place.line, &place.code)?;
    found.trace = trace(hit, &places, interpreter);
    found.tier = hit.tier.or(interpreter.rules.rules[hit.rule].about.tier);
    Some(found)
}

/// Creates the match of a hit at a site of the reviewed file.
fn match_at(
    site: &CodeSite,
    hit: &SinkHit,
    interpreter: &FlowInterpreter<'_>,
) -> Option<RuleMatch> {
    let text = &interpreter.program.files[0].text;
    let span = site.span.clone();
    let mut found = RuleMatch::on_line(site.line, &interpreter.code(site))?;
    let end = text.get(..span.end)?.matches('\n').count() as u32 + 1;
    found.lines = LineRange::range(site.line, end)?;
    let line_start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    found.column = u32::try_from(span.start - line_start + 1).ok();
    found.code = text.get(span.clone()).map(str::to_owned);
    found.before = copies_before(text, &span);
    found.trace = trace(hit, &places(hit.data.as_ref()), interpreter);
    found.tier = hit.tier.or(interpreter.rules.rules[hit.rule].about.tier);
    Some(found)
}

/// Returns the touched site of a hit in the reviewed file: the sink, or a call that leads to it.
///
/// Data that a called function reads itself does not pass the call: the defect is that of the
/// called function.
fn site_of(
    hit: &SinkHit,
    places: &[Rc<TaintPlace>],
    interpreter: &FlowInterpreter<'_>,
    touched: &LineSet,
) -> Option<CodeSite> {
    let text = &interpreter.program.files[0].text;
    let is_touched = |site: &&CodeSite| {
        let lines = || {
            let end = text.get(..site.span.end)?.matches('\n').count() as u32 + 1;
            LineRange::range(site.line, end)
        };
        site.file == 0 && lines().is_some_and(|lines| touched.overlaps(lines))
    };
    if is_touched(&&hit.site) {
        return Some(hit.site.clone());
    }
    let mut calls = hit.calls.iter().rev().filter(is_touched);
    calls.find(|call| passes_caller(call, places, interpreter)).cloned()
}

/// Returns true if data passes the function around a call in the reviewed file. Always true for a
/// rule that needs no source.
fn passes_caller(
    call: &CodeSite,
    places: &[Rc<TaintPlace>],
    interpreter: &FlowInterpreter<'_>,
) -> bool {
    let contains = |(start, end): (u32, u32), line: u32| start <= line && line <= end;
    let functions = interpreter.program.files[0].functions().map(|(_, function)| function.lines);
    let around = functions.filter(|lines| contains(*lines, call.line)).min_by_key(|(a, b)| b - a);
    let is_inside = |place: &Rc<TaintPlace>| {
        place.file == 0 && around.is_none_or(|lines| contains(lines, place.line))
    };
    places.is_empty() || places.iter().any(is_inside)
}

fn copies_before(text: &str, span: &Range<usize>) -> usize {
    let (before, own) = (squeeze(&text[..span.start]), squeeze(&text[span.clone()]));
    before.matches(&own).count()
}

/// Returns the places that data passed, the source first.
fn places(last: Option<&Rc<TaintPlace>>) -> Vec<Rc<TaintPlace>> {
    let mut places: Vec<Rc<TaintPlace>> =
        std::iter::successors(last.cloned(), |place| place.before.clone()).collect();
    places.reverse();
    places
}

fn trace(
    hit: &SinkHit,
    places: &[Rc<TaintPlace>],
    interpreter: &FlowInterpreter<'_>,
) -> Vec<TraceStep> {
    if places.is_empty() {
        return Vec::new();
    }
    let step = |role: TraceRole, file: usize, line: u32, code: &str| TraceStep {
        role,
        file: interpreter.program.files[file].path.clone(),
        line,
        code: code.to_owned(),
    };
    let mut steps: Vec<TraceStep> = places
        .iter()
        .enumerate()
        .map(|(at, place)| {
            let role = if at == 0 { TraceRole::Source } else { TraceRole::Step };
            step(role, place.file, place.line, &place.code)
        })
        .collect();
    let sink = &hit.site;
    steps.push(step(TraceRole::Sink, sink.file, sink.line, &interpreter.code(sink)));
    steps
}
