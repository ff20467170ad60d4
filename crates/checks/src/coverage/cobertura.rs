//! Cobertura's XML, as coverage.py, gcovr, jest, coverlet and others write it.

use super::{Coverage, FileHits, into_coverage};
use crate::xml::{Step, walk};

/// Parses the lines of classes. The lines of methods are skipped: they repeat those of their class,
/// or are declarations of functions, which are not counted.
pub(super) fn read(text: &str) -> Option<Coverage> {
    let mut reading = FileHits::new();
    let mut sources = Vec::new();
    let mut in_methods = false;
    let (mut name, mut source): (Option<String>, Option<String>) = (None, None);
    let is_whole = walk(text, |step| match step {
        Step::Open(element) => match element.name().as_str() {
            "source" => source = Some(String::new()),
            "class" => {
                name = element.attribute("filename");
                if let Some(name) = &name {
                    reading.entry(name.clone()).or_default();
                }
            }
            "methods" => in_methods = true,
            "line" if !in_methods => {
                let hits = name.as_ref().and_then(|name| reading.get_mut(name));
                let line = element.number::<u32>("number");
                let count = element.number::<f64>("hits");
                if let (Some(hits), Some(line), Some(count)) = (hits, line, count) {
                    hits.add(line, line, count > 0.0);
                }
            }
            _ => {}
        },
        Step::Text(words) => {
            if let Some(source) = &mut source {
                source.push_str(words);
            }
        }
        Step::Close("source") => sources.extend(source.take().map(|text| text.trim().to_owned())),
        Step::Close("methods") => in_methods = false,
        Step::Close("class") => name = None,
        Step::Close(_) => {}
    });
    is_whole.then(|| into_coverage(reading, sources))
}
