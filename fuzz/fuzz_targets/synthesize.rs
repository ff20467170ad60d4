//! All reports have a verdict, and a report that cannot be read never has the verdict ready.
#![no_main]

use assay_findings::read::decode;
use assay_findings::report::Report;
use assay_findings::synthesis::{Circumstances, synthesize};
use assay_findings::verdict::State;
use assay_findings::write::{Document, FORMS, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let reports = Report::list_from_text(&decode(bytes).0, None);
    let synthesis = synthesize(&reports, &Circumstances::default());
    if reports.iter().any(|report| report.unusable.is_some()) {
        assert!(matches!(synthesis.verdict.state, State::NotReady | State::Incomplete));
    }
    let document = Document { findings: Some(&synthesis.findings), ..Document::default() };
    for (form, _) in FORMS {
        write(form, &document);
    }
});
