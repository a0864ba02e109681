//! `compare`: several kinds over the same rows, side by side.

use crate::args::{ReadArgs, parse_memory, parse_setting};
use crate::compare::{self, Contest, Entry, Heldout};
use crate::error::Failure;
use crate::feed::{Feed, Next, Opening, Plan};
use crate::files::Files;
use crate::picture_file::PictureFile;
use crate::progress::Progress;
use crate::stop::{self, StopSignal};
use crate::terminal::{self, counted};
use bayestream::interrupt::Interrupt;
use bayestream::model::Config;
use bayestream_io::check_writable;
use clap::Args;

/// When to use which of the kinds that a comparison is most often about.
const WHICH: &str = "\
Use gmm unless something speaks against it: it takes streams of any size, sorted or mixed, and follows them as they change. Use
dpmm, the Dirichlet-process model of the sequential papers, where the first tens of thousands of rows must cost little: it takes
a half to a tenth of the time of gmm there, and about as much later. Use mppca where columns follow a few hidden causes.";

/// Arguments of `compare`.
#[derive(Args)]
#[command(after_help = WHICH)]
pub struct CompareArgs {
    /// Files with rows, `-` for standard input; several are read one after the other.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// A kind to compare, with settings of its own after a colon; may be given again [default: every kind that learns
    /// in one pass].
    #[arg(short = 'm', long = "kind", value_name = "KIND[:NAME=VALUE,…]")]
    kinds: Vec<Entry>,
    /// Change one setting of all kinds; may be given again.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, String)>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Memory that each new model may need, as in 8GB: kinds for which the columns are too many fail at once.
    #[arg(long, value_name = "SIZE", default_value = "2GB", value_parser = parse_memory)]
    memory: u64,
    /// Rows scored, then learnt, together.
    #[arg(long, value_name = "T", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// A file with rows that are not learnt: their mean log-density is compared too.
    #[arg(long, value_name = "FILE")]
    test: Option<String>,
    /// Draw score and components along the stream; the extension says which kind of picture: svg, png or html.
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// Print everything as one JSON document.
    #[arg(long)]
    json: bool,
}

/// Learns every kind in one reading of the input, and says how they fared.
pub fn run(args: CompareArgs) -> Result<(), Failure> {
    Files::default().reads("INPUT", &args.inputs).reads("--test", &args.test).writes("--plot", &args.plot).check()?;
    let entries = if args.kinds.is_empty() { Entry::streaming_kinds() } else { args.kinds.clone() };
    let configs = compare::configs(&entries, &args.settings, args.seed)?;
    if args.test.as_deref() == Some("-") && args.inputs.iter().any(|input| input == "-") {
        return Err(Failure::Usage(
            "standard input can be learnt or held out, not both: name a file for --test".into(),
        ));
    }
    let picture = args.plot.as_deref().map(PictureFile::at).transpose()?;
    args.plot.as_deref().map(check_writable).transpose()?;
    let options = args.read.options(args.batch as usize);
    let plan = Plan { inputs: args.inputs.clone(), options, columns: None, skip: 0 };
    let stop = StopSignal::listen()?;
    let mut feed = Feed::start(plan, Some(stop.clone()));
    let columns = match feed.opening()? {
        Opening::Columns(columns) => columns,
        Opening::Stop(signal) => return Err(stopped(signal, 0)),
    };
    let within = |(name, config)| (name, Config { memory_limit: args.memory, ..config });
    let configs = configs.into_iter().map(within).collect();
    let mut contest = Contest::new(configs, columns.clone(), args.read.skips());
    contest.heed(&stop.interrupt());
    let mut progress = Progress::over(feed.total_bytes());
    let outcome = learn_all(&mut feed, &mut contest, &mut progress);
    progress.clear();
    let mut signal = outcome?;
    // Another signal ends the process: what was learnt before the first is worth the fits that are left.
    let interrupt = if signal.is_some() { Interrupt::default() } else { stop.interrupt() };
    contest.finish(&interrupt);
    signal = signal.or_else(|| stop.received());
    let mut heldout = None;
    if let (Some(test), None) = (&args.test, signal) {
        let mut judged = contest.heldout();
        signal = hold_out(&args, test, &columns, stop, &mut judged)?;
        heldout = Some(judged);
    }
    if let Some(picture) = picture {
        let page = |figure| compare::page(&contest, heldout.as_ref(), &args.inputs, figure);
        picture.write(compare::figure(&contest), page)?;
    }
    match args.json {
        true => terminal::print_json(&compare::document(&contest, heldout.as_ref(), &args.inputs))?,
        false => terminal::print(&compare::table(&contest, heldout.as_ref()))?,
    }
    match (signal, contest.failures()) {
        (Some(signal), _) => Err(stopped(signal, contest.n_rows())),
        (None, Some(failures)) => Err(Failure::Failed(failures)),
        (None, None) => Ok(()),
    }
}

/// Learns until the end of the input, or until a signal, which is returned.
fn learn_all(feed: &mut Feed, contest: &mut Contest, progress: &mut Progress) -> Result<Option<i32>, Failure> {
    loop {
        match feed.next()? {
            Next::Rows(mut portion) => {
                let report = contest.learn(&mut portion)?;
                progress.update(portion.bytes_read, &report);
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped, n_unfinished } => {
                terminal::warn_skipped(n_skipped + contest.n_refused());
                terminal::warn_unfinished(n_unfinished);
                return Ok(None);
            }
            Next::Stop(signal) => return Ok(Some(signal)),
        }
    }
}

/// Judges the rows of `--test`, until its end or a signal, which is returned.
fn hold_out(
    args: &CompareArgs,
    test: &str,
    columns: &[String],
    stop: StopSignal,
    heldout: &mut Heldout,
) -> Result<Option<i32>, Failure> {
    let mut options = args.read.options(args.batch as usize);
    options.columns = Some(columns.to_vec());
    options.drop.clear();
    let plan = Plan { inputs: vec![test.to_string()], options, columns: Some(columns.to_vec()), skip: 0 };
    let mut feed = Feed::start(plan, Some(stop));
    if let Opening::Stop(signal) = feed.opening()? {
        return Ok(Some(signal));
    }
    loop {
        match feed.next()? {
            Next::Rows(portion) => {
                heldout.add(&portion.batch.rows);
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped, n_unfinished } => {
                terminal::warn_skipped(n_skipped);
                terminal::warn_unfinished(n_unfinished);
                return Ok(None);
            }
            Next::Stop(signal) => return Ok(Some(signal)),
        }
    }
}

fn stopped(signal: i32, n_rows: u64) -> Failure {
    let message = format!("{}: compared on {} so far", stop::name(signal), counted(n_rows, "row"));
    Failure::Stopped { signal, message }
}
