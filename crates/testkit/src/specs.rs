//! Specs for tests of several crates.

/// A spec with the usual criteria and commands of a login.
pub const LOGIN: &str = "\
## Acceptance Criteria

- [ ] User can register with email/password
- [ ] Password must be 8+ characters with special char
- [ ] Account created after email verification
- [ ] Login with valid credentials works
- [ ] Login with invalid credentials shows error

## Verification

**Unit Tests:**
- `pytest tests/test_auth.py` - All pass
- Coverage: >= 80%

**Integration Tests:**
- `pytest tests/integration/test_api.py` - All pass

**E2E Tests:**
- Manual: Register → Verify email → Login → Logout
";
