//! The abstract interpreter: [`FlowInterpreter`] runs a function on abstract values and reports the
//! data that reaches a sink.
//!
//! Calls of functions whose code is known are run with their arguments. Every run has a budget of
//! steps and of nested calls, so that it ends.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use assay_findings::tier::EvidenceTier;

use super::form::{FlowFunction, Node};
use super::frame::{Frame, State, Variable};
use super::parameters;
use super::program::Program;
use super::rule_set::FlowRules;
use super::value::{FlowValue, Taint, TaintPlace, ValueParts, is_plain_type};

/// The maximum number of steps of the analysis of one function.
pub(super) const MAX_STEPS: usize = 60_000;

/// The maximum length of the code of a step, in bytes.
const MAX_CODE: usize = 160;

/// The maximum number of places of a trace.
const MAX_PLACES: usize = 24;

/// Data that reached a sink.
pub(super) struct SinkHit {
    /// The index of the rule.
    pub(super) rule: usize,
    pub(super) site: CodeSite,
    /// The calls that lead to the sink, outer ones first.
    pub(super) calls: Vec<CodeSite>,
    /// The last place of the data; `None` for a rule that needs no source.
    pub(super) data: Option<Rc<TaintPlace>>,
    /// The strength of the evidence; `None` for a rule that needs no source.
    pub(super) tier: Option<EvidenceTier>,
}

/// A place in the code of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeSite {
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) span: Range<usize>,
}

/// The interpreter of one program.
pub(super) struct FlowInterpreter<'a> {
    pub(super) rules: &'a FlowRules,
    /// The rules that apply to the reviewed file.
    pub(super) concerned: &'a [bool],
    pub(super) program: Program<'a>,
    pub(super) hits: Vec<SinkHit>,
    /// The expressions of the reviewed file that build text and the calls that data must not reach,
    /// and whether the text or the data was always constant.
    pub(super) constancy: HashMap<Range<usize>, bool>,
    /// The calls and element accesses of the reviewed file.
    pub(super) opaque_spans: HashSet<Range<usize>>,
    pub(super) steps: usize,
    pub(super) depth: usize,
    pub(super) calls: Vec<CodeSite>,
    pub(super) running: Vec<Rc<FlowFunction>>,
    /// The indices of the rules that report nothing in the functions that are called now.
    pub(super) ended_rules: BTreeSet<usize>,
    /// True if data that passes a guard counts as safe.
    pub(super) counts_guards: bool,
}

/// Returns true for the types of requests and of other objects that a framework makes.
fn is_request_type(name: &str) -> bool {
    matches!(
        name,
        "request"
            | "Request"
            | "HttpRequest"
            | "WebSocket"
            | "websocket"
            | "Response"
            | "BackgroundTasks"
    )
}

impl<'a> FlowInterpreter<'a> {
    pub(super) fn new(
        rules: &'a FlowRules,
        concerned: &'a [bool],
        program: Program<'a>,
    ) -> FlowInterpreter<'a> {
        FlowInterpreter {
            rules,
            concerned,
            program,
            hits: Vec::new(),
            constancy: HashMap::new(),
            opaque_spans: HashSet::new(),
            steps: 0,
            depth: 0,
            calls: Vec::new(),
            running: Vec::new(),
            ended_rules: BTreeSet::new(),
            counts_guards: false,
        }
    }

    /// Runs a function of the reviewed file with unknown arguments. Returns false if the budget was
    /// used up before the end.
    pub(super) fn run_entry(&mut self, function: &Rc<FlowFunction>) -> bool {
        self.steps = 0;
        let mut state = State { this: self.instance(&function.class), ..State::default() };
        for parameter in &function.parameters {
            let mut value =
                parameter.type_name.as_deref().map(FlowValue::of_type).unwrap_or_default();
            let is_plain = is_plain_type(parameter.type_name.as_deref())
                || self.is_enumeration(parameter.type_name.as_deref());
            let site = CodeSite { file: 0, line: parameter.line, span: parameter.span.clone() };
            // Of a request object, attributes are sources, and others belong to the server.
            let is_whole = parameter.type_name.as_deref().is_some_and(is_request_type);
            let decorators = if is_whole { &[][..] } else { &function.decorators };
            let kinds = self.rules.kinds_of_parameter(&parameter.annotations, decorators);
            let mut taints: Vec<Taint> =
                kinds.iter().map(|kind| self.new_taint(kind, &site)).collect();
            if !is_whole && parameters::is_source(function, parameter) {
                taints.push(self.new_taint(parameters::PARAMETER, &site));
            }
            value.taint(&taints);
            if is_plain {
                value = value.into_number();
            }
            state.variables.insert(parameter.name.clone(), Variable { value, is_plain });
        }
        let mut frame = Frame::new(0, &function.class);
        self.running.push(Rc::clone(function));
        self.block(&function.body, Some(state), &mut frame);
        self.running.pop();
        self.steps < MAX_STEPS
    }

    /// Returns true for a type of the repository whose values are written in the code.
    fn is_enumeration(&mut self, type_name: Option<&str>) -> bool {
        let class = type_name.and_then(|name| self.program.class(name, 0));
        class.is_some_and(|(_, class)| class.supertypes.iter().any(|own| own.ends_with("Enum")))
    }

    pub(super) fn instance(&self, class: &str) -> FlowValue {
        FlowValue {
            types: vec![Rc::from(class)],
            content: ValueParts::Object(BTreeMap::new()),
            ..FlowValue::default()
        }
    }

    pub(super) fn site(&self, node: &Node, frame: &Frame) -> CodeSite {
        CodeSite { file: frame.file, line: node.line, span: node.span.clone() }
    }

    pub(super) fn new_taint(&self, kind: &str, site: &CodeSite) -> Taint {
        let place = TaintPlace {
            before: None,
            length: 1,
            file: site.file,
            line: site.line,
            code: self.code(site),
        };
        Taint { kind: Rc::from(kind), place: Rc::new(place), cleared: Vec::new() }
    }

    /// Records that data passed a place.
    pub(super) fn pass(&self, value: &mut FlowValue, node: &Node, frame: &Frame) {
        for taint in &mut value.taints {
            let last = &taint.place;
            let is_same = last.file == frame.file && last.line == node.line;
            if is_same || last.length >= MAX_PLACES {
                continue;
            }
            taint.place = Rc::new(TaintPlace {
                before: Some(Rc::clone(last)),
                length: last.length + 1,
                file: frame.file,
                line: node.line,
                code: self.code(&self.site(node, frame)),
            });
        }
    }

    /// Returns the code of a place on one line.
    pub(super) fn code(&self, site: &CodeSite) -> String {
        let text = self.program.files[site.file].text.get(site.span.clone()).unwrap_or_default();
        let line = assay_base::text::single_spaced(text);
        assay_base::text::first_chars(&line, MAX_CODE).to_owned()
    }

    pub(super) fn hit(&mut self, rule: usize, site: CodeSite, data: Option<&Taint>) {
        let is_known = self.hits.iter().any(|hit| {
            hit.rule == rule && hit.site == site && hit.calls.first() == self.calls.first()
        });
        if !is_known {
            let tier = data.map(|taint| match parameters::is_weak_kind(&taint.kind) {
                true => EvidenceTier::Parameter,
                false => EvidenceTier::Flow,
            });
            let data = data.map(|taint| Rc::clone(&taint.place));
            self.hits.push(SinkHit { rule, site, calls: self.calls.clone(), data, tier });
        }
    }
}
