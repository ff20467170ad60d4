//! Any bytes that call themselves a diff give an answer that holds together.
#![no_main]

use assay_change::diff::{Content, changed_lines, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let files = parse(bytes);
    for file in &files {
        let is_read = matches!(file.content, Content::Text | Content::Link);
        assert!(is_read || file.hunks.is_empty());
        for hunk in &file.hunks {
            // What came and went lies inside the hunk.
            for (lines, side) in [(&hunk.added, hunk.new), (&hunk.removed, hunk.old)] {
                let end = side.start + side.count;
                assert!(lines.iter().all(|lines| side.start <= lines.start()));
                assert!(lines.iter().all(|lines| lines.end() <= end));
            }
        }
    }
    changed_lines(&files);
});
