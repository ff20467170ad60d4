//! The XML of JaCoCo. It names files by their packages and not by their paths.

use super::{Coverage, FileHits, into_coverage};
use crate::xml::{Step, walk};

pub(super) fn read(text: &str) -> Option<Coverage> {
    let mut reading = FileHits::new();
    let (mut package, mut name): (String, Option<String>) = (String::new(), None);
    let is_whole = walk(text, |step| match step {
        Step::Open(element) => match element.name().as_str() {
            "package" => package = element.attribute("name").unwrap_or_default(),
            "sourcefile" => {
                let file = element.attribute("name").unwrap_or_default();
                let path = match package.is_empty() {
                    true => file,
                    false => format!("{package}/{file}"),
                };
                reading.entry(path.clone()).or_default();
                name = Some(path);
            }
            "line" => {
                let hits = name.as_ref().and_then(|name| reading.get_mut(name));
                let line = element.number::<u32>("nr");
                let reached = element.number::<u64>("ci");
                if let (Some(hits), Some(line), Some(reached)) = (hits, line, reached) {
                    hits.add(line, line, reached > 0);
                }
            }
            _ => {}
        },
        Step::Close("sourcefile") => name = None,
        Step::Text(_) | Step::Close(_) => {}
    });
    is_whole.then(|| into_coverage(reading, Vec::new()))
}
