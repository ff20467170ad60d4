//! Findings that another tool wrote to a file before the review: [`FindingsImport`].

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use assay_change::Change;
use assay_findings::report::Report;
use assay_review::command::format::AnalyserFormat;
use assay_review::command::imported_report;

/// The maximum size of an imported file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A file with the output of an analyser, as an option names it: `FORMAT=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingsImport {
    format: AnalyserFormat,
    file: PathBuf,
}

impl FromStr for FindingsImport {
    type Err = String;

    fn from_str(text: &str) -> Result<FindingsImport, String> {
        let (format, file) = text
            .split_once('=')
            .filter(|(_, file)| !file.is_empty())
            .ok_or_else(|| "expected FORMAT=FILE, such as `sarif=results.sarif`".to_owned())?;
        let format = format.parse().map_err(|error| format!("{error}"))?;
        Ok(FindingsImport { format, file: PathBuf::from(file) })
    }
}

/// Reads the imported findings. Fails if a file cannot be read, is in another format, or has the
/// name of one of the reviewers. Findings outside of the changed lines count as older than the
/// change.
pub(crate) fn read_imports(
    imports: &[FindingsImport],
    change: &Change,
    reviewers: &[&str],
) -> anyhow::Result<Vec<Report>> {
    let mut reports: Vec<Report> = Vec::new();
    for import in imports {
        let shown = import.file.display();
        let name = name_of(&import.file);
        let is_taken = reports.iter().any(|report| report.reviewer.name == name);
        if is_taken || reviewers.contains(&name.as_str()) {
            bail!("cannot import `{shown}`: `{name}` is another reviewer; rename the file");
        }
        let output = import.read()?;
        let report = imported_report(&name, import.format, &output, change);
        if let Some(reason) = &report.unusable {
            bail!(
                "cannot import `{shown}`: the file {}",
                reason.replace("printed output that ", "")
            );
        }
        reports.push(Report { required: true, ..report });
    }
    Ok(reports)
}

impl FindingsImport {
    fn read(&self) -> anyhow::Result<Vec<u8>> {
        let context = || format!("cannot import `{}`", self.file.display());
        let size = fs::metadata(&self.file).with_context(context)?.len();
        if size > MAX_BYTES {
            bail!("{}: it is larger than {} MiB", context(), MAX_BYTES >> 20);
        }
        fs::read(&self.file).with_context(context)
    }
}

/// Returns the name of the reviewer: that of the file, without its extension.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "import".to_owned())
}
