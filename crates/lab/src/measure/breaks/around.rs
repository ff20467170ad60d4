//! Breaks that also create the text around the JSON.

use super::super::draft::Draft;
use crate::random::Random;

fn fence(json: &str) -> String {
    format!("```json\n{json}\n```")
}

/// Returns the JSON of each finding.
fn findings(draft: &Draft) -> Vec<String> {
    (0..draft.expected.len())
        .map(|finding| {
            let own = draft.tokens.iter().filter(|token| token.finding == Some(finding));
            own.map(|token| token.text.as_str()).collect()
        })
        .collect()
}

pub(super) fn escaped(draft: &mut Draft, random: &mut Random) -> bool {
    let text = draft.text().replace('\\', "\\\\").replace('"', "\\\"");
    // Some writers escape line breaks, and others do not.
    draft.replace(if random.chance(50) { text.replace('\n', "\\n") } else { text });
    true
}

pub(super) fn stringified(draft: &mut Draft, _: &mut Random) -> bool {
    let text = serde_json::Value::from(draft.text()).to_string();
    draft.replace(text);
    true
}

pub(super) fn json_lines(draft: &mut Draft, random: &mut Random) -> bool {
    let separator = random.pick(&["\n", "\n\n", ",\n"]);
    let one_line: Vec<String> =
        findings(draft).iter().map(|finding| finding.replace('\n', " ")).collect();
    draft.replace(one_line.join(separator));
    true
}

pub(super) fn callback(draft: &mut Draft, random: &mut Random) -> bool {
    let (open, close) = random.pick(&[("callback(", ");"), ("report(", ")"), ("callback_1 (", "")]);
    draft.replace(format!("{open}{}{close}", draft.text()));
    true
}

pub(super) fn leading_word(draft: &mut Draft, random: &mut Random) -> bool {
    let word = random.pick(&["json\n", "json ", "JSON:\n", "json```\n"]);
    draft.replace(format!("{word}{}", draft.text()));
    true
}

pub(super) fn prose(draft: &mut Draft, random: &mut Random) -> bool {
    let before = random.pick(&[
        "I read the change; `fn main() { run(&[1, 2]) }` looks fine.",
        "Summary: 2 files [reviewed], see [the guide](docs/guide.md).",
        "(1) Nothing else stood out {apart from the list}.",
        "- [ ] tests\n- [x] docs",
    ]);
    let after = random.pick(&[
        "Tell me if you want fixes for {all} of them.",
        "Note: I did not run the tests [no toolchain].",
        "That's all.",
    ]);
    let json = if random.chance(50) { fence(&draft.text()) } else { draft.text() };
    draft.replace(format!("{before}\n\n{json}\n\n{after}\n"));
    true
}

pub(super) fn text_behind(draft: &mut Draft, random: &mut Random) -> bool {
    let behind = random.pick(&[" Done.", "\n42", ";", "\n\nThese are all that I found.", "```"]);
    draft.replace(format!("{}{behind}", draft.text()));
    true
}

pub(super) fn unclosed_fence(draft: &mut Draft, random: &mut Random) -> bool {
    let open = random.pick(&["```json\n", "```\n", "````json\n", "Here it is:\n\n```json\n"]);
    draft.replace(format!("{open}{}", draft.text()));
    true
}

pub(super) fn fence_before(draft: &mut Draft, random: &mut Random) -> bool {
    let before = random.pick(&[
        "```rust\nfn main() {\n    let a = [1, 2];\n}\n```",
        "```diff\n-{\"retries\": 3}\n+{\"retries\": 5}\n```",
        "```python\nconfig = {'type': 'object', 'items': []}\n```",
    ]);
    let json = fence(&draft.text());
    draft.replace(format!("The part in question:\n\n{before}\n\nAnd what is wrong:\n\n{json}\n"));
    true
}

pub(super) fn two_fences(draft: &mut Draft, random: &mut Random) -> bool {
    let findings = findings(draft);
    if findings.len() < 2 {
        return false;
    }
    let (first, second) = findings.split_at(1 + random.below(findings.len() - 1));
    let list = |findings: &[String]| fence(&format!("{{\"findings\": [{}]}}", findings.join(", ")));
    let text = format!("Backend:\n\n{}\n\nFrontend:\n\n{}\n", list(first), list(second));
    draft.replace(text);
    true
}
