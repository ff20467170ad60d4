//! Lowering of the parameters and annotations of Kotlin.

use super::{child_of_kind, name_of, simple_type, type_of};
use crate::flow::form::FlowParameter;
use crate::flow::lowering::{line_of, named_children, text_of};
use crate::syntax::SyntaxNode;

pub(super) fn lower_parameters(list: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let mut parameters = Vec::new();
    let mut marks = Vec::new();
    for child in named_children(list) {
        match &*child.kind() {
            // The annotations of a parameter stand before it.
            "parameter_modifiers" => marks = annotations_in(&child),
            "parameter" => parameters.extend(parameter(&child, &std::mem::take(&mut marks))),
            _ => {}
        }
    }
    parameters
}

pub(super) fn parameter(
    parameter: &SyntaxNode<'_>,
    annotations: &[String],
) -> Option<FlowParameter> {
    Some(FlowParameter {
        name: name_of(parameter)?,
        type_name: type_of(parameter),
        annotations: annotations.to_vec(),
        line: line_of(parameter),
        span: parameter.range(),
    })
}

pub(super) fn annotations(declaration: &SyntaxNode<'_>, kind: &str) -> Vec<String> {
    child_of_kind(declaration, kind).map(|list| annotations_in(&list)).unwrap_or_default()
}

/// Returns the simple names of annotations.
fn annotations_in(list: &SyntaxNode<'_>) -> Vec<String> {
    let all = named_children(list).into_iter().filter(|child| &*child.kind() == "annotation");
    all.map(|own| {
        let text = text_of(&own);
        let text = text.trim_start_matches('@').split('(').next().unwrap_or_default();
        simple_type(text)
    })
    .collect()
}
