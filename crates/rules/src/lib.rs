//! The built-in reviewer: [`Rulebook::review`] holds every rule against the lines that a change
//! adds.
//!
//! A structural rule is a YAML file under `rules/`, matched against syntax trees ([`scan`]); rules
//! over text are in [`text`]. No rule raises anything on lines that the change did not touch. This
//! is the only room that links grammars, so it also answers what thing a line is in
//! ([`WithSymbols`]). [`redact`] takes secrets out of anything that is to be shown or sent, and
//! [`without_injections`] what would give a reviewer orders.

mod behaviours;
mod builtin;
mod calls;
mod conditions;
mod credentials;
mod definitions;
pub mod examples;
mod executable;
mod flow;
mod hit;
mod kinds;
mod language;
mod references;
mod review;
mod rule;
mod rule_timer;
mod rulebook;
mod scan;
mod suppress;
mod survey;
mod symbols;
mod syntax;
mod test_functions;
mod text;
mod whole;
mod wording;

pub use behaviours::{Behaviour, behaviours};
pub use calls::calls;
pub use credentials::{
    KnownCredentials, Redacted, Redaction, redact, redacted_lines, redacted_text,
};
pub use definitions::{DefinitionKind, SymbolDefinition, definitions};
pub use executable::executable_lines;
pub use flow::Reach;
pub use language::{is_test, name_of_language};
pub use references::{Reference, references};
pub use review::{REVIEWER, Reviewed, reads_text_only};
pub use rule::RuleError;
pub use rulebook::Rulebook;
pub use symbols::WithSymbols;
pub use syntax::{Grammars, parses_as_well};
pub use test_functions::{TestEffect, TestFunction, test_functions};
pub use text::injection::{
    ID as INJECTION_RULE, Injection, WITHHELD, injection_in, injection_in_file, injection_in_name,
    without_injections, without_injections_in_file,
};
