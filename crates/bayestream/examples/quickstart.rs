//! Learn a stream batch by batch, look at the model, score a row, save and go on.

use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model};
use bayestream::synthetic::{Covariance, ofab_truth};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Rows to learn from: a mixture of 5 components in 3 columns. Yours come from anywhere.
    let truth = ofab_truth(5, 3, Covariance::Aat, 11);
    let (rows, _) = truth.sample(20_000, 12);

    let columns = ["x", "y", "z"].map(String::from).to_vec();
    let mut model = Model::new(Config::new(Kind::GmmOfab, columns))?;
    for batch in rows.chunks(500 * 3) {
        model.update(&Batch::new(batch, 3)?)?;
    }

    let snapshot = model.snapshot();
    println!("{} rows, {} components", snapshot.n_seen, snapshot.k_realized());
    for component in &snapshot.components {
        println!("  {}  share {:.2}  mean {:.1?}", component.id, component.weight, component.mean);
    }

    let (mut scorer, mut scores) = (snapshot.scorer(), Vec::new());
    scorer.score(&[100.0, 0.0, 0.0], &mut scores);
    println!("p-value of a far row: {:.4}", scores[0].p_value);

    let bytes = model.save();
    let resumed = Model::load(&bytes)?;
    assert_eq!(resumed.save(), bytes);
    Ok(())
}
