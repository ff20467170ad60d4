//! All reports have a verdict, and a report that cannot be read never has the verdict ready.
#![no_main]

use assay_findings::read::decode;
use assay_findings::report::Report;
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::write::{FindingsDocument, OUTPUT_FORMATS, write};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let reports = Report::list_from_text(&decode(bytes).0, None);
    let synthesis = synthesize(&reports, &SynthesisInputs::default());
    if reports.iter().any(|report| report.unusable.is_some()) {
        assert!(matches!(synthesis.verdict.state, VerdictState::NotReady | VerdictState::Incomplete));
    }
    let document = FindingsDocument { findings: Some(&synthesis.findings), ..FindingsDocument::default() };
    for (form, _) in OUTPUT_FORMATS {
        write(form, &document);
    }
});
