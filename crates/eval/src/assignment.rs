//! The one-to-one matching of greatest weight: [`greatest_weight`].

/// Returns, for each row, its matched column, so that the sum of the weights is greatest and no
/// column is used twice. A weight of zero or less is no match.
///
/// This is the Hungarian method with potentials. Its time grows with rows² × columns.
pub fn greatest_weight(weights: &[Vec<f64>]) -> Vec<Option<usize>> {
    let rows = weights.len();
    let columns = weights.first().map_or(0, Vec::len);
    if rows == 0 || columns == 0 {
        return vec![None; rows];
    }
    // Each row has an extra column for "no match", which costs nothing.
    let width = columns + rows;
    let cost = |row: usize, column: usize| match weights[row].get(column) {
        Some(weight) => -weight.max(0.0),
        None => 0.0,
    };
    let matched = least_cost(rows, width, cost);
    let is_match = |row: usize, column: usize| column < columns && weights[row][column] > 0.0;
    matched
        .into_iter()
        .enumerate()
        .map(|(row, column)| Some(column).filter(|column| is_match(row, *column)))
        .collect()
}

/// Returns the column of each row at least total cost. There must be at least as many columns as
/// rows.
fn least_cost(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    // Rows and columns count from one here; zero means none.
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        let mut previous = vec![0; columns + 1];
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        row_of[0] = row;
        let mut column = 0;
        while row_of[column] != 0 {
            used[column] = true;
            let here = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for other in (1..=columns).filter(|other| !used[*other]) {
                let reduced =
                    cost(here - 1, other - 1) - row_potential[here] - column_potential[other];
                if reduced < least[other] {
                    (least[other], previous[other]) = (reduced, column);
                }
                if least[other] < delta {
                    (delta, next) = (least[other], other);
                }
            }
            for other in 0..=columns {
                if used[other] {
                    row_potential[row_of[other]] += delta;
                    column_potential[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[previous[column]];
            column = previous[column];
        }
    }
    let mut matched = vec![0; rows];
    for column in (1..=columns).filter(|column| row_of[*column] != 0) {
        matched[row_of[column] - 1] = column - 1;
    }
    matched
}
