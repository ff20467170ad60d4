//! A record of tests that could not run: [`record`].
//!
//! A test that lacks a kernel feature or a tool returns early, and the test runner counts it as
//! passed. So the test records the reason, and `cargo xtask test` counts the records in its
//! summary.

use std::fs::OpenOptions;
use std::io::Write;

/// The variable that names the file to which reasons are appended.
pub const FILE: &str = "ASSAY_TEST_NOT_RUN";

/// Records that the current test could not run, or could not run as a whole.
///
/// # Panics
///
/// If there is a file for reasons and it cannot be written to: the test must not pass unnoticed.
#[allow(clippy::print_stdout, reason = "shown for a test that is run by itself")]
pub fn record(reason: &str) {
    println!("NOT RUN: {reason}");
    let Some(file) = std::env::var_os(FILE) else { return };
    let line = format!("{}: {reason}\n", current_test());
    let file = OpenOptions::new().create(true).append(true).open(file);
    // One write of a short line: tests that run at the same time do not mix their lines.
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the reason why a test did not run can be written");
}

/// Returns the name of the current test: from nextest, else from the thread, which libtest names.
fn current_test() -> String {
    let variable = |name| std::env::var(name).ok();
    match (variable("NEXTEST_BINARY_ID"), variable("NEXTEST_TEST_NAME")) {
        (Some(binary), Some(test)) => format!("{binary} {test}"),
        _ => std::thread::current().name().unwrap_or("unknown test").to_owned(),
    }
}
