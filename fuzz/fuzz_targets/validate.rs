//! Any bytes are valid by the schema or not.
#![no_main]

use assay_findings::answer::validate;
use assay_findings::validate::Tier;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let full = validate(bytes, Tier::Full);
    assert_eq!(full.valid, full.errors.is_empty());
    // The compact tier asks for less.
    assert!(!full.valid || validate(bytes, Tier::Compact).valid);
});
