//! The roster of a review as text: the reviewers, and their expected cost.

use std::io::Write;

use assay_engine::wording::count;
use assay_findings::write::escape;
use assay_review::depth::Depth;
use assay_review::roster::{Roster, RosterEntry};
use assay_review::{Estimate, ReadDecision};

use super::{BOLD, DIM, GREEN};
use crate::output::StyledStdout;

/// Prints the reviewers of a change, and the reasons.
pub(crate) fn print_roster(
    roster: &Roster,
    with_models: bool,
    with_cost: bool,
) -> anyhow::Result<()> {
    let mut out = StyledStdout::new();
    let depth = match roster.depth {
        Depth::Lite => "lite",
        Depth::Full => "full",
    };
    writeln!(out, "{BOLD}{depth} roster{BOLD:#}: {}", escape::one_line(&roster.because))?;
    for RosterEntry { name, interest, estimate } in &roster.entries {
        let (style, word, reason) = match interest {
            ReadDecision::Reads(reason) => (GREEN, "reads", reason),
            ReadDecision::Skips(reason) => (DIM, "skips", reason),
        };
        writeln!(out, "  {style}{word}{style:#}  {name}: {}", escape::one_line(reason))?;
        if let Some(estimate) = estimate {
            writeln!(
                out,
                "         {DIM}{}{DIM:#}",
                escape::one_line(&describe_estimate(estimate))
            )?;
        }
    }
    match (with_models, with_cost) {
        (false, true) => writeln!(out, "no model is used: nothing is sent, and nothing is spent")?,
        (false, false) => writeln!(
            out,
            "no model is used; with --models, personas read the change \
                                         too"
        )?,
        (true, true) => writeln!(out, "{}", describe_total(roster))?,
        (true, false) => {}
    }
    Ok(())
}

/// Formats the expected cost of a reading.
fn describe_estimate(estimate: &Estimate) -> String {
    let calls = count(estimate.calls, "call");
    let price = describe_price(estimate.usual_micro_usd, estimate.most_micro_usd);
    format!("{calls} to {}, about {} tokens, {price}", estimate.model, estimate.tokens)
}

fn describe_price(usual: Option<u64>, most: Option<u64>) -> String {
    let usd = |micro: u64| micro as f64 / 1_000_000.0;
    match usual.zip(most) {
        Some((usual, most)) => format!("about ${:.2}, ${:.2} at most", usd(usual), usd(most)),
        None => "price unknown".to_owned(),
    }
}

/// Formats the expected cost of all readings, without second looks.
fn describe_total(roster: &Roster) -> String {
    let estimates = || roster.entries.iter().filter_map(|entry| entry.estimate.as_ref());
    let calls: usize = estimates().map(|estimate| estimate.calls).sum();
    let tokens: u64 = estimates().map(|estimate| estimate.tokens).sum();
    let usual = estimates().map(|estimate| estimate.usual_micro_usd).sum::<Option<u64>>();
    let most = estimates().map(|estimate| estimate.most_micro_usd).sum::<Option<u64>>();
    format!(
        "total: {}, about {tokens} tokens, {}; nothing was sent. Second looks at findings cost \
         extra.",
        count(calls, "call"),
        describe_price(usual, most)
    )
}
