//! Shards of one stream, learnt apart and put together.

use super::Subject;
use super::stream::{SEED, Stream, mixture};
use super::subject::{feed, mean_log_density};
use crate::model::{Config, Model};

/// Rows per batch: long streams are fed in longer pieces.
const BATCH: usize = 500;

pub(super) fn identity(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 3, 1500, SEED + 50);
    let model = subject.fitted(&stream.rows, stream.n_columns, SEED)?;
    let merged = Model::merge(std::slice::from_ref(&model)).map_err(|e| e.to_string())?;
    subject.ensure(merged.save() == model.save(), || "a model merged with nothing is another".into())?;
    subject.ensure(Model::merge(&[]).is_err(), || "nothing at all can be merged".into())
}

/// A model for each shard: row i goes to shard i modulo their number.
fn shards(subject: &Subject, stream: &Stream, n_shards: usize) -> Result<Vec<Model>, String> {
    let d = stream.n_columns;
    (0..n_shards)
        .map(|shard| {
            let rows: Vec<f64> =
                stream.rows.chunks(d).skip(shard).step_by(n_shards).flat_map(<[f64]>::to_vec).collect();
            let config = Config { shard: shard as u32, ..subject.model(d, SEED)?.config().clone() };
            let mut model = Model::new(config).map_err(|e| e.to_string())?;
            feed(&mut model, &rows, BATCH)?;
            model.finish();
            Ok(model)
        })
        .collect()
}

pub(super) fn commutes(subject: &Subject) -> Result<(), String> {
    // Shards with a model, and shards too young to have one.
    for n in [2400, 150] {
        let stream = mixture(4, 3, n, SEED + 51);
        let models = shards(subject, &stream, 3)?;
        let merge = |order: [usize; 3]| {
            let chosen: Vec<Model> = order.iter().map(|at| models[*at].clone()).collect();
            Model::merge(&chosen).map(|m| m.save()).map_err(|e| e.to_string())
        };
        let first = merge([0, 1, 2])?;
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            subject.ensure(merge(order)? == first, || format!("{n} rows merged in the order {order:?} differ"))?;
        }
    }
    Ok(())
}

/// Nats per row that a merged model may lose or gain.
const LOSS: f64 = 0.003;

fn ensure_as_good(subject: &Subject, k: usize, d: usize, seed: u64) -> Result<(), String> {
    // Kinds that cannot be merged say so before anything is learnt.
    Model::merge(&[subject.model(d, SEED)?, subject.model(d, SEED)?]).map_err(|e| e.to_string())?;
    let stream = mixture(k, d, 40_000, seed);
    let one_pass = mean_log_density(&shards(subject, &stream, 1)?[0], &stream.held_out);
    let mut worst = String::new();
    for n_shards in [2, 4, 8] {
        let merged = Model::merge(&shards(subject, &stream, n_shards)?).map_err(|e| e.to_string())?;
        subject.ensure(merged.n_seen() == 40_000, || format!("{} rows are left of 40,000", merged.n_seen()))?;
        let found = mean_log_density(&merged, &stream.held_out);
        let k_found = merged.snapshot().k_realized();
        if (found - one_pass).abs() > LOSS {
            worst += &format!(" {n_shards} shards: {:+.4} nats, {k_found} components;", found - one_pass);
        }
    }
    subject.ensure(worst.is_empty(), || format!("({k}, {d}) seed {seed}, against one pass:{worst}"))
}

pub(super) fn shards_apart(subject: &Subject) -> Result<(), String> {
    ensure_as_good(subject, 10, 3, SEED + 52)
}

pub(super) fn shards_overlapping(subject: &Subject) -> Result<(), String> {
    ensure_as_good(subject, 5, 5, SEED + 54)
}
