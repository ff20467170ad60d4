//! The decision which traces are sent: [`Sampler`].

use super::trace_context::{TraceContext, TraceId};

/// The decision which traces are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sampler {
    /// True if a trace that another process began follows the decision of that process.
    pub(super) follows_parent: bool,
    /// The share of traces that are sent, from 0 to 1.
    pub(super) ratio: f64,
}

impl Sampler {
    /// Sends each trace, except for those that another process decided not to send.
    pub(super) const DEFAULT: Sampler = Sampler { follows_parent: true, ratio: 1.0 };

    /// Parses `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`; `None` if the name is unknown or
    /// the ratio is no number from 0 to 1. A missing ratio is 1.
    pub(super) fn parse(name: &str, ratio: Option<&str>) -> Option<Sampler> {
        let (follows_parent, base) = match name.strip_prefix("parentbased_") {
            Some(base) => (true, base),
            None => (false, name),
        };
        let ratio = match base {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => {
                let ratio = ratio.map_or(Ok(1.0), |text| text.trim().parse::<f64>()).ok()?;
                Some(ratio).filter(|ratio| (0.0..=1.0).contains(ratio))?
            }
            _ => return None,
        };
        Some(Sampler { follows_parent, ratio })
    }

    /// Returns true if a trace is sent. `parent` is the span of another process in which the trace
    /// began.
    pub(super) fn is_sampled(&self, trace: TraceId, parent: Option<&TraceContext>) -> bool {
        if let Some(parent) = parent.filter(|_| self.follows_parent) {
            return parent.is_sampled;
        }
        // The last bytes of an id are random, also in ids that begin with a time.
        let [.., a, b, c, d] = trace.0;
        let position = f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX);
        self.ratio >= 1.0 || position < self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(position: u32) -> TraceId {
        let mut bytes = [7; 16];
        bytes[12..].copy_from_slice(&position.to_be_bytes());
        TraceId(bytes)
    }

    #[test]
    fn the_names_of_the_specification_are_known() {
        let known =
            |name: &str, ratio: Option<&str>| Sampler::parse(name, ratio).map(|it| it.ratio);
        assert_eq!(known("always_on", None), Some(1.0));
        assert_eq!(known("parentbased_always_off", None), Some(0.0));
        assert_eq!(known("traceidratio", Some("0.25")), Some(0.25));
        assert_eq!(known("parentbased_traceidratio", None), Some(1.0));
        for (name, ratio) in [
            ("jaeger_remote", None),
            ("traceidratio", Some("2")),
            ("traceidratio", Some("NaN")),
            ("traceidratio", Some("-1")),
            ("", None),
        ] {
            assert_eq!(known(name, ratio), None, "{name} {ratio:?}");
        }
    }

    #[test]
    fn a_ratio_selects_that_share_of_traces_always_in_the_same_way() {
        let quarter = Sampler::parse("traceidratio", Some("0.25")).unwrap();
        let step = u32::MAX / 1_000;
        let sampled = (0..1_000).filter(|at| quarter.is_sampled(trace(at * step), None)).count();
        assert!((249..=251).contains(&sampled), "{sampled}");
        let (all, none) = (Sampler::DEFAULT, Sampler::parse("always_off", None).unwrap());
        for id in [trace(0), trace(u32::MAX)] {
            assert!(all.is_sampled(id, None) && !none.is_sampled(id, None));
        }
    }

    #[test]
    fn a_trace_of_another_process_follows_its_decision() {
        let context = |flags: &str| -> TraceContext {
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}").parse().unwrap()
        };
        let (on, off) = (context("01"), context("00"));
        let none = Sampler::parse("parentbased_always_off", None).unwrap();
        assert!(none.is_sampled(on.trace, Some(&on)));
        assert!(!Sampler::DEFAULT.is_sampled(off.trace, Some(&off)));
        let own = Sampler::parse("always_on", None).unwrap();
        assert!(own.is_sampled(off.trace, Some(&off)));
    }
}
