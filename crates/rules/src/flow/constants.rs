//! Folding of constants: the operators of [`Constant`].

use super::form::{BinaryOperator, Constant};

/// The maximum length of folded text.
const MAX_TEXT: usize = 4096;

impl Constant {
    /// Returns the text of a constant as string building writes it.
    pub(super) fn in_text(&self) -> String {
        match self {
            Constant::Null => "null".to_owned(),
            Constant::Boolean(value) => value.to_string(),
            Constant::Integer(value) => value.to_string(),
            Constant::Character(value) => value.to_string(),
            Constant::Text(value) => value.clone(),
        }
    }

    /// Returns the truth of a boolean constant.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Constant::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the constant as a position in a list.
    pub(super) fn position(&self) -> Option<usize> {
        match self {
            Constant::Integer(value) => usize::try_from(*value).ok(),
            _ => None,
        }
    }
}

/// The maximum number of results that are kept.
const MAX_RESULTS: usize = 8;

/// Returns the results of an operator on all pairs of constants; `None` if one is not known.
pub(super) fn fold_all(
    operator: BinaryOperator,
    a: &[Constant],
    b: &[Constant],
) -> Option<Vec<Constant>> {
    if a.len() * b.len() > MAX_RESULTS {
        return None;
    }
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let mut results: Vec<Constant> =
        pairs.map(|(a, b)| fold(operator, a, b)).collect::<Option<_>>()?;
    results.sort();
    results.dedup();
    Some(results)
}

/// Returns the result of an operator on two constants; `None` if the result is not known.
fn fold(operator: BinaryOperator, a: &Constant, b: &Constant) -> Option<Constant> {
    use BinaryOperator as Op;
    let result = match (operator, a, b) {
        (Op::And, Constant::Boolean(a), Constant::Boolean(b)) => Constant::Boolean(*a && *b),
        (Op::Or, Constant::Boolean(a), Constant::Boolean(b)) => Constant::Boolean(*a || *b),
        (Op::Equal, a, b) => Constant::Boolean(a == b),
        (Op::NotEqual, a, b) => Constant::Boolean(a != b),
        (Op::Add, Constant::Text(_), _) | (Op::Add, _, Constant::Text(_)) => {
            let text = a.in_text() + &b.in_text();
            return (text.len() <= MAX_TEXT).then_some(Constant::Text(text));
        }
        (_, Constant::Integer(a), Constant::Integer(b)) => return fold_integers(operator, *a, *b),
        _ => return None,
    };
    Some(result)
}

fn fold_integers(operator: BinaryOperator, a: i64, b: i64) -> Option<Constant> {
    use BinaryOperator as Op;
    Some(match operator {
        Op::Add => Constant::Integer(a.checked_add(b)?),
        Op::Subtract => Constant::Integer(a.checked_sub(b)?),
        Op::Multiply => Constant::Integer(a.checked_mul(b)?),
        Op::Divide => Constant::Integer(a.checked_div(b)?),
        Op::Remainder => Constant::Integer(a.checked_rem(b)?),
        Op::Less => Constant::Boolean(a < b),
        Op::LessOrEqual => Constant::Boolean(a <= b),
        Op::Greater => Constant::Boolean(a > b),
        Op::GreaterOrEqual => Constant::Boolean(a >= b),
        _ => return None,
    })
}
