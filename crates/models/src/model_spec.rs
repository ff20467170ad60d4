//! Limits and prices of well-known models: context, longest answer, and price.
//!
//! Prices change; those of the configuration take precedence.

use crate::Price;

/// The limits and the price of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelSpec {
    pub(crate) context_tokens: u64,
    pub(crate) max_output_tokens: u32,
    pub(crate) price: Option<Price>,
}

/// The assumptions for an unknown model: low limits, so that prompts fit.
const UNKNOWN_MODEL: ModelSpec =
    ModelSpec { context_tokens: 64_000, max_output_tokens: 8_192, price: None };

/// The prefix of a model name; the context and the longest answer in thousands of tokens; the
/// prices of input and output in cents per million tokens. The first match counts, so longer names
/// come first.
type Row = (&'static str, u64, u32, u64, u64);

const CLAUDE: [Row; 14] = [
    ("claude-fable-5", 200, 64, 1000, 5000),
    ("claude-sonnet-5", 200, 64, 300, 1500),
    ("claude-opus-4-8", 200, 64, 500, 2500),
    ("claude-opus-4-7", 200, 64, 500, 2500),
    ("claude-opus-4-6", 200, 64, 500, 2500),
    ("claude-opus-4-5", 200, 64, 500, 2500),
    ("claude-opus-4", 200, 32, 1500, 7500),
    ("claude-sonnet-4", 200, 64, 300, 1500),
    ("claude-haiku-4", 200, 64, 100, 500),
    ("claude-3-7-sonnet", 200, 64, 300, 1500),
    ("claude-3-5-sonnet", 200, 8, 300, 1500),
    ("claude-3-5-haiku", 200, 8, 80, 400),
    ("claude-3-opus", 200, 4, 1500, 7500),
    ("claude-3-haiku", 200, 4, 25, 125),
];

/// A row with the price of input that is read from the cache, in cents per million tokens.
type CachedRow = (Row, u64);

const GPT: [CachedRow; 14] = [
    (("gpt-5.2-pro", 400, 128, 2100, 16800), 2100),
    (("gpt-5.2", 400, 128, 175, 1400), 18),
    (("gpt-5.1", 400, 128, 125, 1000), 13),
    (("gpt-5-pro", 400, 128, 1500, 12000), 1500),
    (("gpt-5-mini", 400, 128, 25, 200), 3),
    (("gpt-5-nano", 400, 128, 5, 40), 1),
    (("gpt-5-codex", 400, 128, 125, 1000), 13),
    (("gpt-4.1-mini", 1_000, 32, 40, 160), 10),
    (("gpt-4.1-nano", 1_000, 32, 10, 40), 3),
    (("gpt-4.1", 1_000, 32, 200, 800), 50),
    (("gpt-4o-mini", 128, 16, 15, 60), 8),
    (("gpt-4o", 128, 16, 250, 1000), 125),
    (("o4-mini", 200, 100, 110, 440), 28),
    (("o3", 200, 100, 200, 800), 50),
];

/// Millionths of a dollar in a cent.
const CENT: u64 = 10_000;

/// Returns the limits and the price of a model by its name, without its provider.
pub(crate) fn model_spec(model: &str) -> ModelSpec {
    let fits = |row: &Row| is_or_continues(model, row.0);
    // Gateways write `claude-sonnet-4.5`.
    let dashed = model.replace('.', "-");
    if let Some(row) = CLAUDE.iter().find(|row| is_or_continues(&dashed, row.0)) {
        return with_price(row, claude_price(row));
    }
    if let Some((row, cached)) = GPT.iter().find(|(row, _)| fits(row)) {
        let (input, output) = (row.3 * CENT, row.4 * CENT);
        let price = Price { input, output, cache_read: cached * CENT, cache_write: input };
        return with_price(row, price);
    }
    // The plain name comes last, since other names begin with it.
    match is_or_continues(model, "gpt-5") {
        true => model_spec("gpt-5.1"),
        false => UNKNOWN_MODEL,
    }
}

/// Returns true if a model name is `name`, or `name` with a suffix such as a date.
fn is_or_continues(model: &str, name: &str) -> bool {
    model
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
}

fn with_price(row: &Row, price: Price) -> ModelSpec {
    ModelSpec {
        context_tokens: row.1 * 1_000,
        max_output_tokens: row.2 * 1_000,
        price: Some(price),
    }
}

/// Returns the price of a Claude model. Input that is read from the cache costs a tenth, and input
/// that is written to it a quarter more.
fn claude_price(row: &Row) -> Price {
    let (input, output) = (row.3 * CENT, row.4 * CENT);
    Price { input, output, cache_read: input / 10, cache_write: input + input / 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_recognised_with_and_without_a_date() {
        let sonnet = model_spec("claude-sonnet-4-5");
        assert_eq!(model_spec("claude-sonnet-4-5-20250929"), sonnet);
        assert_eq!(sonnet.price.unwrap().cache_write, 3_750_000);
        assert_eq!(model_spec("claude-opus-4-1").price.unwrap().input, 15_000_000);
        assert_eq!(model_spec("claude-opus-4-5").price.unwrap().input, 5_000_000);
        assert_eq!(model_spec("gpt-5-2025-08-07").price.unwrap().input, 1_250_000);
        assert_eq!(model_spec("gpt-5-mini").price.unwrap().input, 250_000);
    }

    #[test]
    fn a_name_that_shares_only_a_prefix_is_unknown() {
        for name in ["gpt-50", "claude-sonnet-4x", "llama3.1:8b", "o30", ""] {
            assert_eq!(model_spec(name), UNKNOWN_MODEL, "{name}");
        }
    }
}
