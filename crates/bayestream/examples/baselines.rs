//! One pass of a kind over a random mixture of the online FAB paper, and its divergence from the truth.
//!
//! ```text
//! cargo run --release -p bayestream --example baselines -- gmm/sda-dp 30 10 50 20000 0..3 aat NAME=VALUE...
//! ```
//! Arguments: kind, K*, D, rows per batch, rows, seeds, covariance generator (aat, aat-raw, spd), settings.

use bayestream::data::Batch;
use bayestream::metrics::kl_divergence_within;
use bayestream::model::{Config, Kind, Model};
use bayestream::synthetic::{Covariance, ofab_truth};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, k, d, batch, n, seeds, covariance, settings @ ..] = &args[..] else {
        return Err("give kind, K*, D, rows per batch, rows, seeds as a..b, covariance generator, settings".into());
    };
    let (kind, covariance): (Kind, Covariance) = (kind.parse()?, covariance.parse()?);
    let (k, d, batch, n): (usize, usize, usize, usize) = (k.parse()?, d.parse()?, batch.parse()?, n.parse()?);
    let (first, end) = seeds.split_once("..").ok_or("seeds are given as a..b")?;
    let mut config = Config::new(kind, (1..=d).map(|j| format!("x{j}")).collect());
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("settings are given as NAME=VALUE")?;
        config.settings.set(kind, name, value)?;
    }
    let (mut divergences, mut counts) = (Vec::new(), Vec::new());
    for seed in first.parse::<u64>()?..end.parse()? {
        let truth = ofab_truth(k, d, covariance, seed);
        let mut model = Model::new(Config { seed, ..config.clone() })?;
        let (rows, _) = truth.sample(n, seed);
        for rows in rows.chunks(batch * d) {
            model.update(&Batch::new(rows, d)?)?;
        }
        let snapshot = model.snapshot();
        let kl = kl_divergence_within(&truth, &snapshot, 0.05, 1 << 18, seed ^ 0x6576_616c_0000_0000);
        divergences.push(kl.mean);
        counts.push((snapshot.k_realized(), model.k_implemented()));
    }
    let mean = divergences.iter().sum::<f64>() / divergences.len() as f64;
    println!("KL {mean:.3}, each {divergences:.3?}; components reported and held {counts:?}");
    Ok(())
}
