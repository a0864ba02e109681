//! Models of labelled rows in files of the same format as others.

use super::{LinearConfig, LinearKind, LinearModel};
use crate::engine::linear::TargetChoice;
use crate::model::file::{invalid, packed, unpacked};
use crate::model::{FormatError, Header, read_header};

impl LinearModel {
    /// The model as bytes; the same model always gives the same bytes.
    pub fn save(&self) -> Vec<u8> {
        packed(&self.header(), self)
    }

    /// Reads what [`LinearModel::save`] wrote.
    pub fn load(bytes: &[u8]) -> Result<LinearModel, FormatError> {
        read_header(bytes)?.check_sort::<LinearKind>()?;
        let model: LinearModel = unpacked(bytes)?;
        let engine = model.config.engine().map_err(|e| invalid(e.to_string()))?;
        let n_features = match (&model.pipeline, model.config.is_words()) {
            (Some(pipeline), true) if pipeline.settings() == &model.config.settings.text => pipeline.vocabulary().len(),
            (None, false) => model.config.columns.len(),
            _ => return Err(invalid("its parts do not belong to the features it names".into())),
        };
        model.learner.restore(&engine, n_features).map_err(|reason| invalid(reason.into()))?;
        let is_label = model.config.settings.target != TargetChoice::Number;
        if is_label && model.labels().len() > model.config.settings.max_labels {
            return Err(invalid("it has more labels than its settings allow".into()));
        }
        Ok(model)
    }

    /// What the file will say of itself.
    pub fn header(&self) -> Header {
        let LinearConfig { kind, settings, seed, columns, .. } = &self.config;
        Header::of(kind.name(), self.n_seen(), columns, *seed, settings.list(*kind))
    }
}
