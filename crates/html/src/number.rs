//! Numbers as people read them.

/// Formats a number with a comma before each group of three digits, such as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three_from_the_right() {
        let numbers = [0, 7, 999, 1_000, 12_345, 123_456, 1_234_567, u64::MAX].map(grouped);
        let expected = [
            "0", "7", "999", "1,000", "12,345", "123,456", "1,234,567",
            "18,446,744,073,709,551,615",
        ];
        assert_eq!(numbers, expected);
    }
}
