//! Figure 3: the paper's rivals on the stream whose components are replaced.

use super::super::cross_validation::best_number;
use super::super::rivals::{OFAB, Rival, SDA_DP, STRUST, SVB};
use super::abrupt::{EVERY, Run, one_run};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, median, three};
use crate::table::Table;
use bayestream::synthetic::{AbruptDrift, Covariance};
use bayestream_plot::{Chart, MarkStyle, SvgFigure, grid};

const METHODS: [Rival; 4] = [OFAB, STRUST, SVB, SDA_DP];
/// Colour of the truth; methods have those before it, in their order.
const TRUTH: usize = 11;

struct Given {
    k: Option<usize>,
    run: Run,
}

pub fn run(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Outcome, ReproduceError> {
    let jobs: Vec<(usize, u64)> =
        (0..METHODS.len()).flat_map(|method| seeds.iter().map(move |&seed| (method, seed))).collect();
    let describe = |&(method, seed): &(usize, u64), given: &Given| {
        format!("drift: {} seed {seed}: K {}", METHODS[method].name, list(&given.run.k_at_end))
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(method, seed)| {
        let rival = &METHODS[method];
        let k = if rival.needs_k { Some(best_by_log_score(rival, seed)?) } else { None };
        Ok(Given { k, run: one_run(rival.kind, rival.settings(k), seed)? })
    })?;
    let by_method: Vec<(Rival, &[Given])> = METHODS.into_iter().zip(runs.chunks(seeds.len().max(1))).collect();
    let note = format!(
        "Rivals on the streams of seeds {}: SVB and strust-SVI (`kappa`=0.5) are given the number of components with the highest \
         prequential log-score on the whole stream, found by an outer loop, which is hindsight in their favour: rows held \
         out would be of segments that are over. `excess` is the true minus the prequential log-density, the median over the batches \
         of a segment and then over seeds; lags and KL are medians over seeds. The paper shows this as a picture only, and says \
         that online FAB recovers fastest, that strust-SVI comes near it later, that SVB and SDA-DP stay behind, and that SDA-DP \
         makes too many components.",
        list(seeds)
    );
    let first: Vec<(Rival, &Run)> =
        by_method.iter().filter_map(|(rival, runs)| runs.first().map(|given| (*rival, &given.run))).collect();
    let figures = seeds
        .first()
        .map(|seed| ("stream", format!("Figure 3: prequential log-score and components, seed {seed}"), figure(&first)));
    Ok(Outcome {
        notes: vec![note],
        tables: vec![table(&by_method)],
        figures: figures.into_iter().collect(),
        files: Vec::new(),
    })
}

/// The number of components that would have predicted the stream best.
fn best_by_log_score(rival: &Rival, seed: u64) -> Result<usize, ReproduceError> {
    best_number(|k| {
        let run = one_run(rival.kind, rival.settings(Some(k)), seed)?;
        // Nothing predicts the first batch.
        Ok(run.log_score.iter().filter(|score| !score.is_nan()).sum())
    })
}

/// True minus prequential log-density: the median over the batches of each segment.
fn excess(run: &Run, drift: &AbruptDrift) -> Vec<f64> {
    let of_segment = |segment: &bayestream::synthetic::Segment| {
        let batches = segment.batches.clone();
        let excess = run.log_truth[batches.clone()].iter().zip(&run.log_score[batches]).map(|(truth, own)| truth - own);
        median(&excess.filter(|value| !value.is_nan()).collect::<Vec<_>>())
    };
    drift.segments.iter().map(of_segment).collect()
}

fn table(by_method: &[(Rival, &[Given])]) -> Table {
    let columns = ["method", "K given", "K at the ends, each seed (truth 3 3 4)", "lags", "KL at the ends", "excess"];
    let mut table = Table::new("rivals", "The same with the paper's rivals", columns);
    // Segments are the same for every seed.
    let drift = AbruptDrift::new(Covariance::Aat, 0);
    for (rival, runs) in by_method {
        let by_segment = |value: &dyn Fn(&Run) -> Vec<f64>| {
            let values: Vec<Vec<f64>> = runs.iter().map(|given| value(&given.run)).collect();
            let medians = (0..drift.segments.len()).map(|ix| median(&values.iter().map(|v| v[ix]).collect::<Vec<_>>()));
            medians.collect::<Vec<f64>>()
        };
        let ends: Vec<String> = runs.iter().map(|given| list(&given.run.k_at_end)).collect();
        table.row([
            rival.name.to_string(),
            list(runs.iter().filter_map(|given| given.k)),
            ends.join(", "),
            list(by_segment(&|run| run.lags.clone())).replace("inf", "∞"),
            list(by_segment(&|run| run.kl_at_end.clone()).into_iter().map(three)),
            list(by_segment(&|run| excess(run, &drift)).into_iter().map(three)),
        ]);
    }
    table
}

/// Means over stretches of [`EVERY`] batches, each at its end; segments begin at multiples of it.
fn stretches(values: &[f64]) -> Vec<(f64, f64)> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    values.chunks(EVERY).enumerate().map(|(ix, chunk)| (((ix + 1) * EVERY) as f64, mean(chunk))).collect()
}

fn figure(by_method: &[(Rival, &Run)]) -> SvgFigure {
    let switches = [(150.5, "4-6"), (295.5, "7-10")];
    let truth = by_method.first().map_or(Vec::new(), |(_, run)| stretches(&run.log_truth));
    let lowest = truth.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    let highest = truth.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
    // What comes right after a switch may lie arbitrarily far down; the axis is for the rest.
    let mut score = Chart::new("Log-score before learning, means of five batches")
        .size(620.0, 400.0)
        .x_label("batch")
        .y_label("nats a row")
        .y_range(lowest - 12.0, highest + 1.0);
    let mut k = Chart::new("Components").size(620.0, 400.0).x_label("batch").y_label("K");
    // Ours once more at the end, over the others.
    let layers = by_method.iter().enumerate().chain(by_method.iter().enumerate().take(1));
    for (layer, (ix, (rival, run))) in layers.enumerate() {
        let name = if layer == by_method.len() { "" } else { rival.name };
        score = score.line(name, &stretches(&run.log_score)).color(ix).line_width(1.6);
        let looks: Vec<(f64, f64)> =
            run.k.iter().enumerate().map(|(ix, k)| (((ix + 1) * EVERY) as f64, *k as f64)).collect();
        k = k.step(name, &looks).color(ix);
    }
    let score =
        score.line("truth", &truth).color(TRUTH).dashed().line_width(1.2).marks(&switches, MarkStyle::default());
    let k = k
        .step("truth", &[(1.0, 3.0), (296.0, 4.0), (500.0, 4.0)])
        .color(TRUTH)
        .dashed()
        .marks(&switches, MarkStyle::default());
    grid(&[score, k], 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_is_counted_segment_by_segment_and_skips_what_was_not_scored() {
        let drift = AbruptDrift::new(Covariance::Aat, 0);
        let mut log_score: Vec<f64> = (0..500).map(|ix| if ix < 150 { -1.0 } else { -3.0 }).collect();
        (log_score[0], log_score[499]) = (f64::NAN, -1e6);
        let run = Run {
            k: Vec::new(),
            log_score,
            log_truth: vec![-0.5; 500],
            lags: Vec::new(),
            k_at_end: Vec::new(),
            kl_at_end: Vec::new(),
        };
        assert_eq!(excess(&run, &drift), [0.5, 2.5, 2.5]);
    }

    #[test]
    fn stretches_end_where_segments_do() {
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(stretches(&values), [(5.0, 2.0), (10.0, 7.0)]);
        assert!(AbruptDrift::new(Covariance::Aat, 0).segments.iter().all(|s| s.batches.end % EVERY == 0));
    }
}
