//! Least squares by damped Gauss-Newton steps (Levenberg and Marquardt) within bounds, for a handful of parameters.

/// A local minimum of a sum of squares.
#[derive(Clone, Debug)]
pub(super) struct LocalMinimum {
    pub(super) at: Vec<f64>,
    /// The sum of squares there.
    pub(super) cost: f64,
    /// The inverse of `JᵀJ` there: the covariance of the parameters where residuals have variance 1. Rows of parameters that lie at a bound,
    /// or that nothing depends on, are 0.
    pub(super) covariance: Vec<Vec<f64>>,
}

const MOST_STEPS: usize = 200;

/// Minimises the sum of squares of `residuals` from `start`, within `bounds`.
pub(super) fn minimise(
    residuals: impl Fn(&[f64]) -> Vec<f64>,
    start: &[f64],
    bounds: &[(f64, f64)],
) -> LocalMinimum {
    let mut at: Vec<f64> = start.iter().zip(bounds).map(|(x, (low, high))| x.clamp(*low, *high)).collect();
    let mut found = residuals(&at);
    let mut cost = squares(&found);
    let mut damping = 1e-3;
    for _ in 0..MOST_STEPS {
        let (normal, gradient) = normal_equations(&residuals, &at, &found, bounds);
        let free = free(&at, &gradient, bounds);
        let mut improved = false;
        while damping < 1e12 {
            let step = solve(&damped(&normal, damping), &gradient, &free);
            let next: Vec<f64> = at
                .iter()
                .zip(&step)
                .zip(bounds)
                .map(|((x, s), (low, high))| (x - s).clamp(*low, *high))
                .collect();
            let there = residuals(&next);
            let less = squares(&there);
            if less < cost {
                improved = cost - less > 1e-13 * cost;
                (at, found, cost) = (next, there, less);
                damping = (damping / 10.0).max(1e-12);
                break;
            }
            damping *= 10.0;
        }
        if !improved {
            break;
        }
    }
    let (normal, gradient) = normal_equations(&residuals, &at, &found, bounds);
    let free = free(&at, &gradient, bounds);
    let unit = |index: usize| {
        (0..at.len()).map(|other| if other == index { 1.0 } else { 0.0 }).collect::<Vec<f64>>()
    };
    let covariance = (0..at.len())
        .map(|index| if free[index] { solve(&normal, &unit(index), &free) } else { vec![0.0; at.len()] })
        .collect();
    LocalMinimum { at, cost, covariance }
}

fn squares(residuals: &[f64]) -> f64 {
    let sum: f64 = residuals.iter().map(|r| r * r).sum();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// `JᵀJ` and `Jᵀr`, with derivatives by differences.
fn normal_equations(
    residuals: impl Fn(&[f64]) -> Vec<f64>,
    at: &[f64],
    found: &[f64],
    bounds: &[(f64, f64)],
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let columns: Vec<Vec<f64>> = (0..at.len())
        .map(|index| {
            let size = 1e-6 * at[index].abs().max(1.0);
            // Differences point away from a bound that is near.
            let size = if at[index] + size > bounds[index].1 { -size } else { size };
            let mut beside = at.to_vec();
            beside[index] += size;
            residuals(&beside).iter().zip(found).map(|(there, here)| (there - here) / size).collect()
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let normal = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    (normal, columns.iter().map(|column| dot(column, found)).collect())
}

/// For each parameter, true if it may move: false at a bound that a step downhill would cross.
fn free(at: &[f64], gradient: &[f64], bounds: &[(f64, f64)]) -> Vec<bool> {
    let stuck = |((x, g), (low, high)): ((&f64, &f64), &(f64, f64))| {
        (x <= low && *g > 0.0) || (x >= high && *g < 0.0)
    };
    at.iter().zip(gradient).zip(bounds).map(|each| !stuck(each)).collect()
}

fn damped(normal: &[Vec<f64>], damping: f64) -> Vec<Vec<f64>> {
    let mut damped = normal.to_vec();
    for (index, row) in damped.iter_mut().enumerate() {
        row[index] += damping * row[index].max(1e-12);
    }
    damped
}

/// The solution of a symmetric system in the parameters that are `free`, the others being 0. Scaled by its diagonal, and solved by elimination
/// with pivots; what does not determine anything gets 0.
pub(super) fn solve(matrix: &[Vec<f64>], right: &[f64], free: &[bool]) -> Vec<f64> {
    let solved: Vec<usize> = (0..right.len()).filter(|&i| free[i] && matrix[i][i] > 0.0).collect();
    let scale: Vec<f64> = solved.iter().map(|&i| matrix[i][i].sqrt()).collect();
    let n = solved.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let scaled = (0..n).map(|j| matrix[solved[i]][solved[j]] / (scale[i] * scale[j]));
            scaled.chain([right[solved[i]] / scale[i]]).collect()
        })
        .collect();
    for column in 0..n {
        let Some(best) = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
        else {
            break;
        };
        rows.swap(column, best);
        let pivot = rows[column].clone();
        if pivot[column].abs() < 1e-14 {
            continue;
        }
        for (index, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
            debug_assert!(index != column);
            let times = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(value, of_pivot)| *value -= times * of_pivot);
        }
    }
    let mut solution = vec![0.0; right.len()];
    for i in 0..n {
        if rows[i][i].abs() >= 1e-14 {
            solution[solved[i]] = rows[i][n] / rows[i][i] / scale[i];
        }
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight line has a solution in closed form.
    #[test]
    fn a_line_through_points_is_that_of_the_closed_form() {
        let points = [(0.0, 1.1), (1.0, 2.9), (2.0, 5.2), (3.0, 6.8)];
        let residuals = |p: &[f64]| points.iter().map(|(x, y)| p[0] + p[1] * x - y).collect();
        let found = minimise(residuals, &[0.0, 0.0], &[(-10.0, 10.0), (-10.0, 10.0)]);
        // Mean x 1.5, mean y 4; sums of (x − 1.5)² and (x − 1.5)·(y − 4) are 5 and 9.7.
        assert!((found.at[1] - 1.94).abs() < 1e-6 && (found.at[0] - 1.09).abs() < 1e-6, "{found:?}");
        assert!((found.covariance[1][1] - 0.2).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_parameter_at_its_bound_stays_and_the_others_converge() {
        let residuals = |p: &[f64]| vec![p[0] + 3.0, (p[1] - 2.0) * (1.0 + p[1] * p[1])];
        let found = minimise(residuals, &[1.0, 0.5], &[(0.0, 9.0), (0.0, 9.0)]);
        assert!(found.at[0] == 0.0 && (found.at[1] - 2.0).abs() < 1e-6, "{found:?}");
        assert!(found.covariance[0][0] == 0.0 && (found.covariance[1][1] - 0.04).abs() < 1e-4, "{found:?}");
    }
}
