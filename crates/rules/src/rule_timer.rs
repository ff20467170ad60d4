//! The time that structural rules take on a file, for diagnostics: [`RuleTimer`].

use std::time::Duration;

use assay_base::clock::Stopwatch;

use crate::rule::Rule;

/// The time on one file above which a rule is reported as slow.
const SLOW_THRESHOLD: Duration = Duration::from_millis(50);

/// Adds up the time of each rule on one file. Without a subscriber to debug events the clock is
/// never read: rules are matched against many thousands of nodes.
pub(crate) struct RuleTimer<'a> {
    path: &'a str,
    /// The time of each rule, by its number; empty if there is no subscriber.
    times: Vec<Duration>,
}

impl<'a> RuleTimer<'a> {
    /// Creates a timer for a file and `rules` rules.
    pub(crate) fn new(path: &'a str, rules: usize) -> RuleTimer<'a> {
        let is_heard = tracing::enabled!(tracing::Level::DEBUG);
        let times = if is_heard { vec![Duration::ZERO; rules] } else { Vec::new() };
        RuleTimer { path, times }
    }

    /// Measures a match of the rule with this number.
    pub(crate) fn time<T>(&mut self, rule: usize, run: impl FnOnce() -> T) -> T {
        let Some(time) = self.times.get_mut(rule) else { return run() };
        let started = Stopwatch::start();
        let result = run();
        *time += started.elapsed();
        result
    }

    /// Emits an event for the file, and one for each slow rule.
    pub(crate) fn report(&self, rules: &[Rule]) {
        if self.times.is_empty() {
            return;
        }
        let (path, total) = (self.path, self.times.iter().sum::<Duration>());
        tracing::debug!(path, elapsed = ?total, rules = rules.len(), "matched the rules");
        for (rule, elapsed) in self.slow(rules.iter().map(|rule| rule.about.id.as_str())) {
            tracing::debug!(path, rule, ?elapsed, "slow rule");
        }
    }

    /// Returns the ids of the slow rules, with the time of each.
    fn slow<'r>(&self, rules: impl Iterator<Item = &'r str>) -> Vec<(&'r str, Duration)> {
        rules.zip(self.times.iter().copied()).filter(|(_, time)| *time >= SLOW_THRESHOLD).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_takes_long_is_named_and_others_are_not() {
        let times = vec![Duration::from_millis(2), Duration::from_millis(90), Duration::ZERO];
        let timer = RuleTimer { path: "src/shop.py", times };
        let slow = timer.slow(["python/a", "python/b", "python/c"].into_iter());
        assert_eq!(slow, [("python/b", Duration::from_millis(90))]);
    }

    #[test]
    fn rules_are_not_timed_without_debug_logging() {
        let mut timer = RuleTimer::new("src/shop.py", 3);
        assert_eq!(timer.time(1, || 7), 7);
        assert!(timer.times.is_empty());
    }
}
