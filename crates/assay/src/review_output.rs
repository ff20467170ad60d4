//! The outputs of a review: [`OutputFormatArg`], and [`OutputArgs`] with the places that the user
//! asked for.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_change::Change;
use assay_engine::source_columns::utf16_columns;
use assay_findings::synthesis::Synthesis;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;

use crate::output;
use crate::terminal::{self, PrintOptions};

/// The output format of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormatArg {
    Terminal,
    Concise,
    Json,
    Sarif,
    Rdjson,
    Rdjsonl,
    Markdown,
    Github,
    Gitlab,
    Checklist,
}

/// A format with the file that it is written to; without a file, to stdout or to that of `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputTarget {
    format: OutputFormatArg,
    file: Option<PathBuf>,
}

/// Options for the output of a review.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// The output format; `FORMAT=FILE` writes to a file, in addition to the output on stdout. May
    /// be given several times [default: terminal]
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = OutputTargetParser)]
    format: Vec<OutputTarget>,
    /// Print JSON, as `--format json`
    #[arg(long)]
    json: bool,
    /// Write the output to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print nothing on stdout and no progress; the exit code is the verdict
    #[arg(short, long)]
    quiet: bool,
}

/// The parser of `FORMAT` and `FORMAT=FILE`.
#[derive(Clone)]
struct OutputTargetParser;

impl TypedValueParser for OutputTargetParser {
    type Value = OutputTarget;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<OutputTarget, clap::Error> {
        let text = value.to_string_lossy();
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (&*text, None),
        };
        let parser = EnumValueParser::<OutputFormatArg>::new();
        let format = parser.parse_ref(command, arg, OsStr::new(name))?;
        if file == Some("") {
            let message = format!("missing file after `{name}=`\n");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, message));
        }
        Ok(OutputTarget { format, file: file.map(PathBuf::from) })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = OutputFormatArg::value_variants().iter();
        Some(Box::new(known.filter_map(ValueEnum::to_possible_value)))
    }
}

impl OutputArgs {
    /// Fails if two formats would be printed on stdout.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.main_formats().count() > 1 {
            bail!(
                "several formats for stdout; write all but one to files, such as `--format \
                 sarif=results.sarif`"
            );
        }
        Ok(())
    }

    /// Returns true if stdout or its replacement is requested in a way that a mode does not know.
    pub(crate) fn limits_stdout(&self) -> bool {
        self.quiet || self.output.is_some()
    }

    /// Returns true if no progress is shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn main_formats(&self) -> impl Iterator<Item = OutputFormatArg> {
        let formats = self.format.iter().filter(|target| target.file.is_none());
        formats.map(|target| target.format).chain(self.json.then_some(OutputFormatArg::Json))
    }

    fn main_format(&self) -> OutputFormatArg {
        self.main_formats().next().unwrap_or(OutputFormatArg::Terminal)
    }

    /// Writes a review to all places that the user asked for.
    pub(crate) fn show(&self, review: &ShownReview<'_>) -> anyhow::Result<()> {
        self.write_files(review)?;
        match &self.output {
            Some(file) => write_file(file, &review.render(self.main_format())?),
            None if self.quiet => Ok(()),
            None => review.print(self.main_format()),
        }
    }

    /// Writes a review to the files of `--format FORMAT=FILE`.
    pub(crate) fn write_files(&self, review: &ShownReview<'_>) -> anyhow::Result<()> {
        for target in &self.format {
            if let Some(file) = &target.file {
                write_file(file, &review.render(target.format)?)?;
            }
        }
        Ok(())
    }
}

/// A review with the facts for its output.
pub(crate) struct ShownReview<'a> {
    /// The change; `None` if it could not be read.
    pub(crate) change: Option<&'a Change>,
    pub(crate) synthesis: &'a Synthesis,
    pub(crate) options: PrintOptions<'a>,
}

impl ShownReview<'_> {
    /// Prints the review on stdout.
    pub(crate) fn print(&self, format: OutputFormatArg) -> anyhow::Result<()> {
        let text = self.render_styled(format)?;
        match format {
            OutputFormatArg::Terminal => output::write_styled(text.as_bytes()),
            _ => output::write(text.as_bytes()),
        }
        Ok(())
    }

    /// Returns the review in a format, redacted and without colours.
    fn render(&self, format: OutputFormatArg) -> anyhow::Result<String> {
        let text = self.render_styled(format)?;
        Ok(match format {
            OutputFormatArg::Terminal => anstream::adapter::strip_str(&text).to_string(),
            _ => text,
        })
    }

    fn render_styled(&self, format: OutputFormatArg) -> anyhow::Result<String> {
        let text = match (form_of(format), self.change) {
            (Some(form), _) => self.write(form),
            (None, _) if format == OutputFormatArg::Json => write::pretty(self.synthesis),
            (None, Some(change)) => terminal::render(change, self.synthesis, &self.options)?,
            (None, None) => format!(
                "{}\n  the review was interrupted before the change was read\n",
                self.synthesis.verdict.state.in_words()
            ),
        };
        Ok(assay_rules::redact(&text).into_owned())
    }

    fn write(&self, form: OutputFormat) -> String {
        let findings = &self.synthesis.findings;
        let columns = self.change.map(|change| utf16_columns(change, findings));
        let document = FindingsDocument {
            findings: Some(findings),
            synthesis: Some(self.synthesis),
            utf16_columns: columns.as_ref(),
            version: env!("CARGO_PKG_VERSION"),
            ..FindingsDocument::default()
        };
        write::write(form, &document)
    }
}

/// Returns the format of `findings` for a format of the command; `None` for JSON and the terminal.
fn form_of(format: OutputFormatArg) -> Option<OutputFormat> {
    match format {
        OutputFormatArg::Terminal | OutputFormatArg::Json => None,
        OutputFormatArg::Concise => Some(OutputFormat::Concise),
        OutputFormatArg::Sarif => Some(OutputFormat::Sarif),
        OutputFormatArg::Rdjson => Some(OutputFormat::Rdjson),
        OutputFormatArg::Rdjsonl => Some(OutputFormat::Rdjsonl),
        OutputFormatArg::Markdown => Some(OutputFormat::Markdown),
        OutputFormatArg::Github => Some(OutputFormat::Github),
        OutputFormatArg::Gitlab => Some(OutputFormat::Gitlab),
        OutputFormatArg::Checklist => Some(OutputFormat::Checklist),
    }
}

fn write_file(file: &Path, text: &str) -> anyhow::Result<()> {
    output::write_to_file(file, text).with_context(|| format!("cannot write `{}`", file.display()))
}
