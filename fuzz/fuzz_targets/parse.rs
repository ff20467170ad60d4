//! Any bytes that a reviewer may print give an answer.
#![no_main]

use assay_findings::script_api::{SeverityFormat, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (parsed, _) = parse(bytes, SeverityFormat::Auto, None);
    // What needs a fix is not approved, whatever the text says.
    assert!(!(parsed.outcome.approved && parsed.outcome.needs_fix));
});
