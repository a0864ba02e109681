//! Algorithm 1 as the paper has it, with its printed errors corrected, beside the default engine.

use super::{Pass, exact_count, one_pass};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::{Settings, Variant};
use bayestream::synthetic::{Covariance, ofab_truth};

const CELLS: [(usize, usize); 4] = [(10, 3), (10, 10), (30, 10), (30, 20)];
const N_BATCHES: usize = 5000;
const BATCH: usize = 10;

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(1000..1003);
    let mut jobs = Vec::new();
    for cell in CELLS {
        for variant in [Variant::Paper, Variant::Default] {
            jobs.extend(seeds.iter().map(|&seed| (cell, variant, seed)));
        }
    }
    let describe = |&((k, d), variant, seed): &((usize, usize), Variant, u64), pass: &Pass| {
        format!("variant {variant:?} K={k} D={d} seed {seed}: K {} KL {}", pass.k, three(pass.kl.mean))
    };
    let passes = run_all(&jobs, setting.n_threads, setting.progress, describe, |&((k, d), variant, seed)| {
        let truth = ofab_truth(k, d, Covariance::Aat, seed);
        one_pass(&truth, N_BATCHES, BATCH, seed, Settings { variant, ..Settings::default() }, &[])
    })?;
    let mut table = Table::new(
        "",
        "Divergence from the truth and components found, by variant",
        ["K*", "D", "limit", "paper", "K, paper", "exact", "default", "K, default", "exact"],
    );
    for (k, d) in CELLS {
        let of = |variant: Variant| -> Vec<&Pass> {
            let wanted = jobs.iter().zip(&passes).filter(|(job, _)| job.0 == (k, d) && job.1 == variant);
            wanted.map(|(_, pass)| pass).collect()
        };
        let limit = ofab_truth(k, d, Covariance::Aat, 0).n_free() / (2 * N_BATCHES * BATCH) as f64;
        let mut row = vec![k.to_string(), d.to_string(), three(limit)];
        for variant in [Variant::Paper, Variant::Default] {
            let passes = of(variant);
            row.push(mean_sd_text(&passes.iter().map(|p| p.kl.mean).collect::<Vec<_>>()));
            row.push(list(passes.iter().map(|p| p.k)));
            row.push(exact_count(&passes, k));
        }
        table.row(row);
    }
    let note = format!(
        "`gmm/ofab`, one pass over {N_BATCHES} batches of {BATCH}, seeds {}; `--set variant=paper` and the default. The \
         limit is P/2N.",
        list(&seeds)
    );
    Ok(Outcome { notes: vec![note], tables: vec![table], ..Outcome::default() })
}
