//! The personas that come with assay.

/// Each file's name and text.
pub(super) const SHIPPED: [(&str, &str); 22] = [
    ("adversarial.md", include_str!("../../personas/adversarial.md")),
    ("agent-surface.md", include_str!("../../personas/agent-surface.md")),
    ("concurrency.md", include_str!("../../personas/concurrency.md")),
    ("contract.md", include_str!("../../personas/contract.md")),
    ("correctness.md", include_str!("../../personas/correctness.md")),
    ("data-exposure.md", include_str!("../../personas/data-exposure.md")),
    ("docs-truth.md", include_str!("../../personas/docs-truth.md")),
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
