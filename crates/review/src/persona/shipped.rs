//! The personas that are shipped with assay.

use std::sync::LazyLock;

use super::Persona;

/// Returns the shipped personas. Their files are parsed once in a process, so that the clones of a
/// persona share its compiled patterns.
pub(super) fn personas() -> &'static [Persona] {
    static PERSONAS: LazyLock<Vec<Persona>> = LazyLock::new(|| {
        let read = |(file, text)| Persona::read(file, text);
        FILES.into_iter().map(read).collect::<Result<_, _>>().expect("shipped personas are valid")
    });
    &PERSONAS
}

/// The name and the text of each file.
const FILES: [(&str, &str); 24] = [
    ("adversarial.md", include_str!("../../personas/adversarial.md")),
    ("agent-surface.md", include_str!("../../personas/agent-surface.md")),
    ("concurrency.md", include_str!("../../personas/concurrency.md")),
    ("contract.md", include_str!("../../personas/contract.md")),
    ("correctness.md", include_str!("../../personas/correctness.md")),
    ("data-exposure.md", include_str!("../../personas/data-exposure.md")),
    ("docs-truth.md", include_str!("../../personas/docs-truth.md")),
    ("exposure.md", include_str!("../../personas/exposure.md")),
    ("general.md", include_str!("../../personas/general.md")),
    ("guard-fidelity.md", include_str!("../../personas/guard-fidelity.md")),
    ("intent.md", include_str!("../../personas/intent.md")),
    ("maintainability.md", include_str!("../../personas/maintainability.md")),
    ("migration.md", include_str!("../../personas/migration.md")),
    ("performance.md", include_str!("../../personas/performance.md")),
    ("prior-findings.md", include_str!("../../personas/prior-findings.md")),
    ("project-standards.md", include_str!("../../personas/project-standards.md")),
    ("reliability.md", include_str!("../../personas/reliability.md")),
    ("scope-creep.md", include_str!("../../personas/scope-creep.md")),
    ("security.md", include_str!("../../personas/security.md")),
    ("supply-chain.md", include_str!("../../personas/supply-chain.md")),
    ("test-honesty.md", include_str!("../../personas/test-honesty.md")),
    ("testing.md", include_str!("../../personas/testing.md")),
    ("ui-state.md", include_str!("../../personas/ui-state.md")),
    ("validator.md", include_str!("../../personas/validator.md")),
];
