//! `reproduce`: a paper's experiment, run again.

use crate::error::Failure;
use crate::terminal;
use bayestream::model::nearest;
use bayestream_papers::{EXPERIMENTS, Options, ReproduceError, reproduce};
use clap::Args;
use std::path::PathBuf;
use std::thread;

/// Arguments of `reproduce`.
#[derive(Args)]
pub struct ReproduceArgs {
    /// A paper (`ofab`) or one of its experiments (`ofab/table1`); none lists them.
    #[arg(value_name = "PAPER[/EXPERIMENT]")]
    name: Option<String>,
    /// Folder with downloaded data.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder to write tables and figures to; made when absent.
    #[arg(long, value_name = "DIR", default_value = "reproduced")]
    out: PathBuf,
    /// Seeds instead of each experiment's own, as in 1,2,3 or 0..10 (the end is left out).
    #[arg(long, value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Option<Seeds>,
    /// Runs at the same time [default: one per core]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Compare with the batch engine even where that takes long.
    #[arg(long)]
    with_batch: bool,
    /// Write the rows of experiments on real data beside the tables, for other programs to learn from.
    #[arg(long)]
    export: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Seeds(Vec<u64>);

/// Seeds one by one or as a range.
fn parse_seeds(text: &str) -> Result<Seeds, String> {
    const MOST: u64 = 100_000;
    let wrong = || "expected seeds as in 1,2,3 or 0..10".to_string();
    let mut seeds = Vec::new();
    for part in text.split(',') {
        let (from, to) = match part.split_once("..") {
            Some((from, to)) => (from.trim().parse().map_err(|_| wrong())?, to.trim().parse().map_err(|_| wrong())?),
            None => {
                let seed: u64 = part.trim().parse().map_err(|_| wrong())?;
                (seed, seed.checked_add(1).ok_or_else(wrong)?)
            }
        };
        if from >= to || to - from > MOST {
            return Err(wrong());
        }
        seeds.extend(from..to);
    }
    Ok(Seeds(seeds))
}

/// Runs experiments, or lists them.
pub fn run(args: ReproduceArgs) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        let width = EXPERIMENTS.iter().map(|e| e.name.len()).max().unwrap_or(0);
        let line = |e: &bayestream_papers::Experiment| {
            let needs = if e.needs_data { " (needs --data)" } else { "" };
            format!("{:width$}  {}{needs}\n", e.name, e.shows)
        };
        return terminal::print(&EXPERIMENTS.iter().map(line).collect::<String>());
    };
    let n_threads = args.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), |n| n as usize);
    let mut options = Options {
        data_dir: args.data,
        out_dir: args.out,
        seeds: args.seeds.map(|seeds| seeds.0),
        n_threads,
        with_batch: args.with_batch,
        export: args.export,
        progress: &mut |line: &str| terminal::note(line),
    };
    let report = reproduce(name, &mut options).map_err(explain)?;
    let mut text = String::new();
    for experiment in &report.experiments {
        text += experiment.markdown.trim_end();
        text += "\n\n";
        for file in &experiment.files {
            text += &format!("wrote {}\n", file.display());
        }
    }
    terminal::print(&text)
}

fn explain(error: ReproduceError) -> Failure {
    match &error {
        ReproduceError::UnknownExperiment { name, .. } => {
            let hint = nearest(name, EXPERIMENTS.iter().map(|e| e.name));
            let hint = hint.map(|name| format!("\n  did you mean `{name}`?")).unwrap_or_default();
            Failure::Usage(format!("{error}{hint}"))
        }
        _ => Failure::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seeds_are_lists_and_ranges() {
        assert_eq!(parse_seeds("3, 9"), Ok(Seeds(vec![3, 9])));
        assert_eq!(parse_seeds("2..5,11"), Ok(Seeds(vec![2, 3, 4, 11])));
        assert!(parse_seeds("5..2").is_err() && parse_seeds("x").is_err() && parse_seeds("").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_seeds_panic(text in ".*") {
            let _ = parse_seeds(&text);
        }
    }
}
