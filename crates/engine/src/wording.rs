//! Wording that several messages share.

use jiff::Timestamp;

/// Returns a number with its noun, in the plural unless the number is 1.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if noun.ends_with('x') { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{ending}") }
}

/// Returns the time that has passed since `then` in its largest unit, such as `4 min`.
pub fn elapsed(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_passed_is_told_in_its_largest_unit() {
        let now = Timestamp::UNIX_EPOCH;
        let ago = |seconds: i64| elapsed(Timestamp::from_second(-seconds).unwrap(), now);
        let ages = [-5, 0, 119, 120, 7_199, 7_200, 172_799, 172_800, 31_536_000].map(ago);
        let expected =
            ["0 s", "0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days", "365 days"];
        assert_eq!(ages, expected);
    }
}
