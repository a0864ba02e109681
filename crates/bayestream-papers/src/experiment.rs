//! The table of experiments, and the one way to run them.

use crate::asugs;
use crate::bayespa;
use crate::bmm;
use crate::data::DataFolder;
use crate::error::ReproduceError;
use crate::lfm;
use crate::ofab;
use crate::outcome::{Outcome, write_whole};
use crate::outliers;
use crate::page::insert_section;
use std::fs;
use std::path::PathBuf;

/// A line of the table of experiments.
pub struct Experiment {
    /// `paper/experiment`.
    pub name: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// True when it needs the data folder.
    pub needs_data: bool,
    run: fn(&mut Setting<'_>) -> Result<Outcome, ReproduceError>,
}

/// Every experiment there is.
pub const EXPERIMENTS: [Experiment; 50] = [
    Experiment {
        name: "ofab/table1",
        shows: "Table I and figure 2: divergence from the truth and number of components after 5,000 batches",
        needs_data: false,
        run: ofab::table1::run,
    },
    Experiment {
        name: "ofab/rivals",
        shows: "Figure 2 and Table I with the paper's rivals, their number of components by cross-validation",
        needs_data: false,
        run: ofab::rivals::run,
    },
    Experiment {
        name: "ofab/variant",
        shows: "Algorithm 1 of the paper, its errors corrected, beside the engine that is the default",
        needs_data: false,
        run: ofab::variant::run,
    },
    Experiment {
        name: "ofab/overlap",
        shows: "Overlapping, elongated and sorted streams, harder than the paper's",
        needs_data: false,
        run: ofab::overlap::run,
    },
    Experiment {
        name: "ofab/large",
        shows: "60 to 1,000 clusters, in random order, coming in gradually and sorted",
        needs_data: false,
        run: ofab::large::run,
    },
    Experiment {
        name: "ofab/drift",
        shows: "Figure 3: components replaced at once; besides, means that move and streams that do not change",
        needs_data: false,
        run: ofab::drift::run,
    },
    Experiment {
        name: "ofab/mppca",
        shows: "Dimensions of principal subspaces, found in one pass",
        needs_data: false,
        run: ofab::mppca::run,
    },
    Experiment {
        name: "ofab/letters",
        shows: "Figure 4: points on the strokes of I, C, D, M, reconstructed",
        needs_data: false,
        run: ofab::letters::run,
    },
    Experiment {
        name: "ofab/shuttle",
        shows: "Figures 5A and 6A-B: outliers of the Statlog Shuttle data",
        needs_data: true,
        run: ofab::shuttle::run,
    },
    Experiment {
        name: "ofab/kdd",
        shows: "Figures 5B and 6C-D: intrusions among the http connections of KDD Cup 1999",
        needs_data: true,
        run: ofab::kdd::run,
    },
    Experiment {
        name: "ofab/real",
        shows: "Held-out log-likelihood on MNIST and Shuttle after one pass",
        needs_data: true,
        run: ofab::real::run,
    },
    Experiment {
        name: "outliers/calibration",
        shows: "Whether p-values of watched rows mean what they say, on streams of a million rows",
        needs_data: false,
        run: outliers::calibration::run,
    },
    Experiment {
        name: "outliers/calibration-real",
        shows: "The same on real rows without anomalies",
        needs_data: true,
        run: outliers::calibration::run_real,
    },
    Experiment {
        name: "outliers/ranking",
        shows: "Outliers of eight sets put first, rows scored before they are learnt from, with and without holes",
        needs_data: true,
        run: outliers::ranking::run,
    },
    Experiment {
        name: "outliers/reasons",
        shows: "Columns spoilt on purpose, and whether the reasons name them",
        needs_data: false,
        run: outliers::reasons::run,
    },
    Experiment {
        name: "outliers/drift",
        shows: "Alarms on streams that change at once, and on streams that do not",
        needs_data: false,
        run: outliers::drift::run,
    },
    Experiment {
        name: "outliers/skab",
        shows: "Change points of a water-circulation testbed, and the log-scores of its rows",
        needs_data: true,
        run: outliers::skab::run,
    },
    Experiment {
        name: "asugs/classes",
        shows: "Section 6.1 and figure 1: 16 classes in two columns, and how many each method finds",
        needs_data: false,
        run: asugs::classes::run,
    },
    Experiment {
        name: "asugs/mnist",
        shows: "Section 6.2 and figure 3: clusters of handwritten digits",
        needs_data: true,
        run: asugs::mnist::run,
    },
    Experiment {
        name: "asugs/likelihood",
        shows: "Figure 2: the likelihood ratio of a new class, and how far the predictive density is from the truth",
        needs_data: false,
        run: asugs::likelihood::run,
    },
    Experiment {
        name: "asugs/growth",
        shows: "Theorem 2: classes and concentration along a million rows",
        needs_data: false,
        run: asugs::growth::run,
    },
    Experiment {
        name: "asugs/table",
        shows: "Two cells of Table I of the online FAB paper, Dirichlet-process and variational kinds side by side",
        needs_data: false,
        run: asugs::table::run,
    },
    Experiment {
        name: "asugs/orders",
        shows: "Rows that come class by class, and random orders of the same rows",
        needs_data: false,
        run: asugs::orders::run,
    },
    Experiment {
        name: "asugs/drift",
        shows: "Components replaced twice, with and without forgetting",
        needs_data: false,
        run: asugs::drift::run,
    },
    Experiment {
        name: "bmm/gaussians",
        shows: "Section 5.1 and figure 4: two Gaussians, then two others, in one column",
        needs_data: false,
        run: bmm::gaussians::run,
    },
    Experiment {
        name: "bmm/table1",
        shows: "Table 1: log-likelihood per word of naive Bayes on Reuters and NIPS, ten folds",
        needs_data: true,
        run: bmm::table1::run,
    },
    Experiment {
        name: "bmm/lda",
        shows: "Section 5.3, figure 5 and tables 2 and 3: LDA in one pass over Reuters",
        needs_data: true,
        run: bmm::lda::run,
    },
    Experiment {
        name: "bmm/topics",
        shows: "Topics of 20 Newsgroups, Reuters, NIPS and AP in one pass, their number unknown, and planted ones",
        needs_data: true,
        run: bmm::topics::run,
    },
    Experiment {
        name: "bmm/million",
        shows: "A million documents of planted topics: what is found along the stream, and what it costs",
        needs_data: false,
        run: bmm::million::run,
    },
    Experiment {
        name: "bayespa/newsgroups",
        shows: "20 Newsgroups in one pass: the paper's four models, and ours with shared topics",
        needs_data: true,
        run: bayespa::newsgroups::run,
    },
    Experiment {
        name: "bayespa/passes",
        shows: "Figure 3: test error against passes over 20 Newsgroups",
        needs_data: true,
        run: bayespa::passes::run,
    },
    Experiment {
        name: "bayespa/rivals",
        shows: "Figures 3 and 4: topics learnt without labels, and a linear machine on top",
        needs_data: true,
        run: bayespa::rivals::run,
    },
    Experiment {
        name: "bayespa/sweeps",
        shows: "Many topics in one pass over 20 Newsgroups: what they need",
        needs_data: true,
        run: bayespa::sweeps::run,
    },
    Experiment {
        name: "bayespa/topics",
        shows: "Figure 4: accuracy and time of one pass against the number of topics",
        needs_data: true,
        run: bayespa::topics::run,
    },
    Experiment {
        name: "bayespa/batches",
        shows: "Figures 6 and 7: documents learnt together",
        needs_data: true,
        run: bayespa::batches::run,
    },
    Experiment {
        name: "bayespa/batch",
        shows: "Batch learning: accuracy and cost by rounds, beside one pass",
        needs_data: true,
        run: bayespa::batch::run,
    },
    Experiment {
        name: "bayespa/samples",
        shows: "Figure 8 and table 3: rounds, sweeps and burn-in",
        needs_data: true,
        run: bayespa::samples::run,
    },
    Experiment {
        name: "bayespa/small",
        shows: "Figures 9 and 10: few documents and many topics",
        needs_data: true,
        run: bayespa::small::run,
    },
    Experiment {
        name: "bayespa/table2",
        shows: "Table 2: the topics of a label's documents along the stream",
        needs_data: true,
        run: bayespa::table2::run,
    },
    Experiment {
        name: "bayespa/labels",
        shows: "Documents with several labels: Wikipedia and Reuters",
        needs_data: true,
        run: bayespa::labels::run,
    },
    Experiment {
        name: "bayespa/million",
        shows: "A million documents with labels: how labels are told along the stream, and what it costs",
        needs_data: false,
        run: bayespa::million::run,
    },
    Experiment {
        name: "lfm/artificial",
        shows: "Figure 2: features found and time against the number of rows, for every method",
        needs_data: false,
        run: lfm::artificial::run,
    },
    Experiment {
        name: "lfm/acceleration",
        shows: "Figure 1: shrinkage acceleration on and off",
        needs_data: false,
        run: lfm::acceleration::run,
    },
    Experiment {
        name: "lfm/blocks",
        shows: "Figure 3: patterns in block images, early and at the end",
        needs_data: false,
        run: lfm::blocks::run,
    },
    Experiment {
        name: "lfm/real",
        shows: "Table 1: real data with 30 % of the cells hidden",
        needs_data: true,
        run: lfm::real::run,
    },
    Experiment {
        name: "lfm/stream",
        shows: "One pass against all rows at once",
        needs_data: false,
        run: lfm::stream::run,
    },
    Experiment {
        name: "lfm/images",
        shows: "USPS and MNIST in one pass",
        needs_data: true,
        run: lfm::stream::run_real,
    },
    Experiment {
        name: "lfm/imputing",
        shows: "Missing cells filled, and whether their intervals hold what they promise",
        needs_data: true,
        run: lfm::imputing::run,
    },
    Experiment { name: "lfm/drift", shows: "Features that change at once", needs_data: false, run: lfm::drift::run },
    Experiment {
        name: "lfm/cost",
        shows: "Time and memory of one pass against columns and features",
        needs_data: false,
        run: lfm::cost::run,
    },
];

/// How to run experiments.
pub struct Options<'a> {
    /// Where downloaded data lies.
    pub data_dir: Option<PathBuf>,
    /// Where tables and figures go; made when absent.
    pub out_dir: PathBuf,
    /// Seeds instead of each experiment's own.
    pub seeds: Option<Vec<u64>>,
    /// Runs at the same time; results do not depend on it.
    pub n_threads: usize,
    /// Compares with our batch engine even where that takes long.
    pub with_batch: bool,
    /// Writes the rows of `real` experiments beside the tables, for other programs to learn from.
    pub export: bool,
    /// Called with a line about each finished run.
    pub progress: &'a mut dyn FnMut(&str),
}

/// What was run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One entry per experiment.
    pub experiments: Vec<Reproduced>,
}

/// One experiment that was run.
#[derive(Clone, Debug)]
pub struct Reproduced {
    /// Its name.
    pub name: &'static str,
    /// Its notes and tables, in Markdown.
    pub markdown: String,
    /// The files it wrote.
    pub files: Vec<PathBuf>,
}

/// What an experiment sees of the options.
pub struct Setting<'a> {
    pub data: DataFolder,
    pub out_dir: PathBuf,
    pub n_threads: usize,
    pub with_batch: bool,
    pub export: bool,
    pub progress: &'a mut dyn FnMut(&str),
    seeds: Option<Vec<u64>>,
}

impl Setting<'_> {
    /// The seeds asked for, or the experiment's own.
    pub fn seeds(&self, own: std::ops::Range<u64>) -> Vec<u64> {
        self.seeds.clone().filter(|seeds| !seeds.is_empty()).unwrap_or_else(|| own.collect())
    }
}

/// Runs one experiment (`ofab/table1`) or all of a paper (`ofab`), writing files as each ends.
///
/// Of a whole paper, experiments whose data is missing are left out with a line to `progress`; asked for by name, they
/// are an error.
pub fn reproduce(name: &str, options: &mut Options<'_>) -> Result<Report, ReproduceError> {
    let chosen: Vec<&Experiment> =
        EXPERIMENTS.iter().filter(|e| e.name == name || e.name.split('/').next() == Some(name)).collect();
    if chosen.is_empty() {
        let known = EXPERIMENTS.iter().map(|e| e.name.to_string()).collect();
        return Err(ReproduceError::UnknownExperiment { name: name.to_string(), known });
    }
    let folder = &options.out_dir;
    fs::create_dir_all(folder).map_err(ReproduceError::io(format!("make the folder {}", folder.display())))?;
    let mut report = Report::default();
    for experiment in chosen {
        let mut setting = Setting {
            data: DataFolder { folder: options.data_dir.clone(), experiment: experiment.name },
            out_dir: options.out_dir.clone(),
            n_threads: options.n_threads,
            with_batch: options.with_batch,
            export: options.export,
            progress: options.progress,
            seeds: options.seeds.clone(),
        };
        let outcome = match (experiment.run)(&mut setting) {
            Ok(outcome) => outcome,
            Err(error @ (ReproduceError::NoDataFolder { .. } | ReproduceError::MissingData { .. }))
                if experiment.name != name =>
            {
                (options.progress)(&format!("left out: {error}"));
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut files = outcome.write(experiment.name, experiment.shows, &options.out_dir)?;
        files.extend(update_page(experiment.name, &outcome, options)?);
        report.experiments.push(Reproduced {
            name: experiment.name,
            markdown: outcome.section(experiment.name, ""),
            files,
        });
    }
    Ok(report)
}

/// Puts the tables into the paper's page beside the folder of figures, when there is one with markers for them.
fn update_page(name: &str, outcome: &Outcome, options: &Options<'_>) -> Result<Option<PathBuf>, ReproduceError> {
    let paper = name.split('/').next().unwrap_or(name);
    let (Some(parent), Some(figures)) = (options.out_dir.parent(), options.out_dir.file_name()) else {
        return Ok(None);
    };
    // Its kinds are `lfm/…`, for latent feature models; the page is named as the paper is.
    let page = parent.join(format!("{}.md", if paper == "lfm" { "fab-lfm" } else { paper }));
    let Ok(text) = fs::read_to_string(&page) else { return Ok(None) };
    let section = outcome.section(name, &format!("{}/", figures.to_string_lossy()));
    match insert_section(&text, name, &section) {
        Some(new) if new != text => write_whole(&page, new).map(|()| Some(page)),
        _ => Ok(None),
    }
}
