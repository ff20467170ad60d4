//! The ways in which the JSON of a review is broken, one function each.
//!
//! They are those that the public test suites of `json_repair` and `jsonrepair` repair, applied to
//! reviews: to their brackets and commas ([`structure`]), to their keys and values ([`values`]) and
//! to the text around them ([`around`]).

mod around;
mod structure;
mod values;

use super::draft::Draft;
use crate::random::Random;

/// Breaks a draft. Returns false if there was nothing to break.
pub(super) type Break = fn(&mut Draft, &mut Random) -> bool;

/// A way to break JSON, with its name.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) apply: Break,
    /// True if the break also creates the text around the JSON, so that no other text is added.
    pub(super) whole_text: bool,
}

const fn inside(name: &'static str, apply: Break) -> Kind {
    Kind { name, apply, whole_text: false }
}

const fn whole(name: &'static str, apply: Break) -> Kind {
    Kind { name, apply, whole_text: true }
}

/// All kinds.
pub(super) const KINDS: &[Kind] = &[
    inside("nothing broken", nothing),
    inside("trailing comma", structure::trailing_comma),
    inside("doubled comma", structure::doubled_comma),
    inside("missing comma between findings", structure::missing_comma_between_findings),
    inside("missing comma between fields", structure::missing_comma_between_fields),
    inside("missing colon", structure::missing_colon),
    inside("missing closing brackets at the end", structure::missing_closing_at_end),
    inside("missing closing bracket of the list", structure::missing_closing_of_list),
    inside("missing closing brace of a finding", structure::missing_closing_of_finding),
    inside("missing opening brace of a finding", structure::missing_opening_of_finding),
    inside("wrong closing bracket", structure::wrong_closing),
    inside("doubled closing bracket", structure::doubled_closing),
    inside("extra opening bracket", structure::extra_opening),
    inside("closed too early", structure::closed_early),
    inside("parentheses for the list", structure::parentheses),
    inside("ellipsis in the list", structure::ellipsis_in_list),
    inside("ellipsis in a finding", structure::ellipsis_in_finding),
    inside("line comment", structure::line_comment),
    inside("block comment", structure::block_comment),
    inside("hash comment", structure::hash_comment),
    inside("stray word before a key", structure::stray_word),
    inside("special blanks", structure::special_blanks),
    inside("truncated", structure::truncated),
    inside("single quotes", values::single_quotes),
    inside("curly quotes", values::curly_quotes),
    inside("accents for quotes", values::accent_quotes),
    inside("doubled quotes", values::doubled_quotes),
    inside("unquoted keys", values::unquoted_keys),
    inside("unquoted values", values::unquoted_values),
    inside("missing opening quote of a key", values::missing_opening_of_key),
    inside("missing closing quote of a key", values::missing_closing_of_key),
    inside("missing opening quote of a value", values::missing_opening_of_value),
    inside("missing closing quote at a line's end", values::missing_closing_of_value),
    inside("unescaped quotes in a string", values::unescaped_quotes),
    inside("raw line break in a string", values::raw_line_break),
    inside("raw tab in a string", values::raw_tab),
    inside("invalid escape", values::invalid_escape),
    inside("concatenated strings", values::concatenated),
    inside("missing value", values::missing_value),
    inside("Python literals", values::python_literals),
    inside("capital literals", values::capital_literals),
    inside("undefined", values::undefined),
    inside("leading zero", values::leading_zero),
    inside("trailing dot", values::trailing_dot),
    inside("digit groups", values::digit_groups),
    inside("database types", values::database_types),
    whole("escaped once", around::escaped),
    whole("a string of JSON", around::stringified),
    whole("JSON lines", around::json_lines),
    whole("callback", around::callback),
    whole("the word json in front", around::leading_word),
    whole("prose before and after", around::prose),
    whole("text behind", around::text_behind),
    whole("unclosed fence", around::unclosed_fence),
    whole("another fence before", around::fence_before),
    whole("findings in two fences", around::two_fences),
    inside("several breaks", several),
];

fn nothing(_: &mut Draft, _: &mut Random) -> bool {
    true
}

/// Applies several breaks that do not interfere with each other.
fn several(draft: &mut Draft, random: &mut Random) -> bool {
    const TOGETHER: [Break; 6] = [
        structure::trailing_comma,
        structure::missing_comma_between_fields,
        structure::line_comment,
        values::python_literals,
        structure::missing_closing_at_end,
        values::unescaped_quotes,
    ];
    let mut broken = 0;
    for apply in TOGETHER {
        if random.chance(60) {
            broken += usize::from(apply(draft, random));
        }
    }
    broken >= 2
}
