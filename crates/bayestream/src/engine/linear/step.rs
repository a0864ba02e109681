//! The arithmetic of one row and one task, in scalars.

/// Expected squares below this count as this: a row exactly on its margin must not have infinite precision.
const LEAST_SQUARE: f64 = 1e-6;

/// Length of the PA-I step for a loss: the multiplier of the box-constrained dual.
pub fn pa_one(loss: f64, square: f64, c: f64) -> f64 {
    if square > 0.0 { c.min(loss / square) } else { 0.0 }
}

/// Length of the PA-II step.
pub fn pa_two(loss: f64, square: f64, c: f64) -> f64 {
    if square > 0.0 { loss / (square + 0.5 / c) } else { 0.0 }
}

/// The multiplier of BayesPA with an averaging classifier: its dual is `loss τ − σ²|x|²τ²/2` on `[0, 2c]`. (The closed
/// form in print leaves σ² out.) The mean moves by σ² times as much.
pub fn averaging(loss: f64, square: f64, sigma2: f64, c: f64) -> f64 {
    if square > 0.0 { (2.0 * c).min(loss / (sigma2 * square)) } else { 0.0 }
}

/// A hinge loss `(edge − side · f)₊` of a score f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// +1 where the score should be high, −1 where it should be low.
    pub side: f64,
    /// Where the loss begins.
    pub edge: f64,
}

impl Hinge {
    /// The hinge of a label: y of ±1 with a margin of epsilon.
    pub fn of_label(y: f64, epsilon: f64) -> [Hinge; 1] {
        [Hinge { side: y, edge: epsilon }]
    }

    /// The two hinges of a number: too low and too high by more than epsilon.
    pub fn of_number(number: f64, epsilon: f64) -> [Hinge; 2] {
        [Hinge { side: 1.0, edge: number - epsilon }, Hinge { side: -1.0, edge: -number - epsilon }]
    }

    /// The loss of a score.
    pub fn loss(&self, score: f64) -> f64 {
        (self.edge - self.side * score).max(0.0)
    }
}

/// What a row says of the score f, as the exponent `pull · f − precision · f²/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Precision of the score.
    pub precision: f64,
    /// Its natural mean.
    pub pull: f64,
}

/// `exp(−2c (ζ)₊)` for ζ = edge − side · f is a mixture over λ of `exp(−(λ + cζ)²/2λ)/√λ` (Polson and Scott 2011); under
/// a Gaussian f the best factor of λ has `E[1/λ] = 1/(c √E[ζ²])`, and given that the row is Gaussian in f. The two are
/// sought in turn, so many rounds.
///
/// `mean` and `variance` are those of f before the row; `variance_after` says what a precision makes of the variance.
pub fn augmented(
    hinges: &[Hinge],
    c: f64,
    rounds: u32,
    mean: f64,
    variance: f64,
    variance_after: impl Fn(f64) -> f64,
) -> Evidence {
    let (mut f, mut spread) = (mean, variance);
    let mut evidence = Evidence { precision: 0.0, pull: 0.0 };
    for round in 0..rounds {
        evidence = Evidence { precision: 0.0, pull: 0.0 };
        for hinge in hinges {
            // The two terms of E[ζ²] stay apart: expanded they cancel. `hypot` because their squares may overflow.
            let root = (hinge.edge - hinge.side * f).hypot(spread.sqrt()).max(LEAST_SQUARE.sqrt());
            let rho = 1.0 / (c * root);
            evidence.precision += c * c * rho;
            evidence.pull += c * hinge.side * (1.0 + c * hinge.edge * rho);
        }
        if round + 1 < rounds {
            f = mean + moved(&evidence, mean, variance) * variance;
            spread = variance_after(evidence.precision);
        }
    }
    evidence
}

/// By how much, in units of Σx, the mean of the weights moves: f goes from `mean` to `mean + moved · variance`.
pub fn moved(evidence: &Evidence, mean: f64, variance: f64) -> f64 {
    (evidence.pull - evidence.precision * mean) / (1.0 + evidence.precision * variance)
}
