//! Any bytes are valid by the schema or not.
#![no_main]

use assay_findings::script_api::validate;
use assay_findings::persona_schema::ReportTier;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let full = validate(bytes, ReportTier::Full);
    assert_eq!(full.valid, full.errors.is_empty());
    // The compact tier asks for less.
    assert!(!full.valid || validate(bytes, ReportTier::Compact).valid);
});
