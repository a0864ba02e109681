//! The Python package's compiled half: thin classes over the library, one for each sort of model.
//!
//! Nothing is learnt here. A class holds a model behind a lock, takes arrays, tables or texts, lets other Python threads run
//! while the library works, and turns what it says into arrays and dictionaries. Everything a user of Python sees is written
//! in Python, in `python/bayestream`.

mod arrow;
mod cells;
mod documents;
mod errors;
mod features;
mod kinds;
mod labels;
mod linear;
mod mixtures;
mod one_by_one;
mod raw_documents;
mod signals;
mod stored;
mod told;
mod verdicts;

/// The compiled half of the package.
#[pyo3::pymodule]
mod _bayestream {
    #[pymodule_export]
    use crate::arrow::columns_of_stream;
    #[pymodule_export]
    use crate::documents::Documents;
    #[pymodule_export]
    use crate::features::Features;
    #[pymodule_export]
    use crate::kinds::{header, kinds, settings_of, sort_of};
    #[pymodule_export]
    use crate::linear::Linear;
    #[pymodule_export]
    use crate::mixtures::Mixture;
}
