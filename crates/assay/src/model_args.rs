//! The command-line options for models: [`ModelArgs`].

use std::fs;

use anyhow::{Context, bail};
use assay_engine::config::models::SpendingCaps;
use assay_engine::effort::Effort;
use assay_engine::models::ModelOptions;
use clap::ValueEnum;

/// The options of a command for models, as the user typed them.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ModelArgs {
    /// Let personas read the change, with the configured models or with MODEL
    #[arg(long, value_name = "MODEL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    models: Option<String>,
    /// Use no model, even if the configuration enables models
    #[arg(long, conflicts_with_all = ["models", "persona"])]
    no_models: bool,
    /// Let only these personas read the change, whatever their triggers
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    persona: Vec<String>,
    /// Let each persona read the change separately, instead of a few readings for all concerns
    #[arg(long, conflicts_with_all = ["no_models", "persona"])]
    each_persona: bool,
    /// Set how much models read: `low` has no second looks and look-ups and at most 200,000 tokens,
    /// `high` has both, and each persona reads separately [default: as configured, `medium`]
    #[arg(long, value_enum, value_name = "EFFORT", conflicts_with = "no_models")]
    effort: Option<EffortArg>,
    /// State the purpose of the change for models: a text, or a file as `@FILE`
    #[arg(long, value_name = "TEXT|@FILE")]
    purpose: Option<String>,
    /// Spend at most this many US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_usd: Option<f64>,
    /// Use at most this many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Wait at most this many seconds for models
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
}

/// The effort of models, as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffortArg {
    Low,
    Medium,
    High,
}

impl From<EffortArg> for Effort {
    fn from(effort: EffortArg) -> Effort {
        match effort {
            EffortArg::Low => Effort::Low,
            EffortArg::Medium => Effort::Medium,
            EffortArg::High => Effort::High,
        }
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let usd: Result<f64, _> = text.trim_start_matches('$').parse();
    usd.ok()
        .filter(|usd| usd.is_finite() && *usd >= 0.0)
        .ok_or_else(|| format!("`{text}` is not an amount in dollars"))
}

impl ModelArgs {
    /// Returns the request that the options make. Reads the file of the purpose.
    pub(crate) fn options(&self) -> anyhow::Result<ModelOptions> {
        Ok(ModelOptions {
            model: self.models.clone(),
            no_models: self.no_models,
            personas: self.persona.clone(),
            each_persona: self.each_persona,
            purpose: self.purpose()?,
            effort: self.effort.map(Effort::from).unwrap_or_default(),
            caps: SpendingCaps {
                usd: self.max_usd,
                tokens: self.max_tokens,
                calls: None,
                seconds: self.max_seconds,
            },
            ..ModelOptions::default()
        })
    }

    /// Returns the purpose of the change as the caller states it.
    fn purpose(&self) -> anyhow::Result<Option<String>> {
        let Some(stated) = &self.purpose else { return Ok(None) };
        let text = match stated.strip_prefix('@') {
            Some(file) => fs::read_to_string(file)
                .with_context(|| format!("cannot read the purpose from `{file}`"))?,
            None => stated.clone(),
        };
        if text.trim().is_empty() {
            bail!("`--purpose` is empty; give a text, or a file as `@FILE`");
        }
        Ok(Some(text))
    }
}
