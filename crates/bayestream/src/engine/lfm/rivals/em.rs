//! Variational EM: the steps of FAB without the penalty, so that only the shares' own pull takes features away.

use super::RivalSettings;
use crate::engine::lfm::fit::Fit;
use crate::engine::lfm::parameters::Parameters;
use crate::engine::lfm::rows::Rows;
use crate::num;

pub(super) fn fit(
    rows: &Rows,
    settings: &RivalSettings,
    key: (u64, u64),
    watch: &mut dyn FnMut(&Parameters),
) -> Parameters {
    let mut rng = num::stream(key.0, key.1, 0);
    let mut fit = Fit::new(rows);
    for _ in 0..settings.most(rows) {
        let mu: Vec<f64> = (0..rows.n).map(|_| rng.uniform()).collect();
        fit.field.push(&mu);
    }
    fit.maximise(rows);
    let mut before = fit.evidence(rows);
    for _ in 0..settings.sweeps {
        if rows.interrupt.is_raised() {
            break;
        }
        fit.expect(rows, 0, 0.0);
        let n_dropped = fit.shrink(rows);
        fit.maximise(rows);
        watch(&fit.parameters);
        let now = fit.evidence(rows);
        if n_dropped == 0 && now - before < settings.tolerance * rows.mass {
            break;
        }
        before = now;
    }
    fit.parameters
}
