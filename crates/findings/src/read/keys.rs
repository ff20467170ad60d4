//! The keys of findings and reports: [`KEYS`].

/// The keys by which a finding or a report is distinguished from other text.
pub(super) const KEYS: [&str; 42] = [
    "file", "path", "filename", "file_path", "location", "line", "line_number", "lines",
    "start_line", "end_line", "severity", "level", "priority", "type", "category", "kind", "title",
    "description", "why_it_matters", "issue", "message", "details", "problem", "explanation",
    "comment", "suggested_fix", "fix", "fix_required", "suggestion", "recommendation",
    "confidence", "evidence", "autofix_class", "owner", "requires_verification", "pre_existing",
    "rule", "findings", "issues", "issues_found", "summary", "verdict",
];
