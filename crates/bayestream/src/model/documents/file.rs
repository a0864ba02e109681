//! Models of documents in files of the same format as others.

use super::{Body, DocumentConfig, DocumentKind, DocumentModel, svi_method};
use crate::model::file::{invalid, packed, unpacked};
use crate::model::{FormatError, Header, read_header};

impl DocumentModel {
    /// The model as bytes; the same model always gives the same bytes.
    pub fn save(&self) -> Vec<u8> {
        packed(&self.header(), self)
    }

    /// Reads what [`DocumentModel::save`] wrote.
    pub fn load(bytes: &[u8]) -> Result<DocumentModel, FormatError> {
        read_header(bytes)?.check_sort::<DocumentKind>()?;
        let mut model: DocumentModel = unpacked(bytes)?;
        model.config.settings.check(model.config.kind).map_err(|e| invalid(e.to_string()))?;
        if !model.body.fits(&model.config) || model.pipeline.settings() != &model.config.settings.text {
            return Err(invalid("its parts do not belong to the kind it names".into()));
        }
        if model.labels.len() > model.config.settings.max_labels {
            return Err(invalid("it has more labels than it may have".into()));
        }
        let n_words = model.pipeline.vocabulary().len();
        model.body.learner_mut().restore(n_words).map_err(invalid)?;
        if let Body::Med(learner) = &model.body {
            learner.check_labels(model.labels.len()).map_err(invalid)?;
        }
        Ok(model)
    }

    /// What the file will say of itself.
    pub fn header(&self) -> Header {
        let DocumentConfig { kind, settings, seed, columns, .. } = &self.config;
        Header::of(kind.name(), self.n_seen(), columns, *seed, settings.list(*kind))
    }
}

impl Body {
    fn fits(&self, config: &DocumentConfig) -> bool {
        let settings = &config.settings;
        match (self, config.kind) {
            (Body::TopicsMmHdp(learner), DocumentKind::TopicsMmHdp) => learner.settings() == &settings.topics,
            (Body::NaiveBayesBmm(learner), DocumentKind::NaiveBayesBmm) => learner.settings() == &settings.moments,
            (Body::LdaBmm(learner), DocumentKind::LdaBmm) => learner.settings() == &settings.moments,
            (Body::NaiveBayesEm(learner), DocumentKind::NaiveBayesEm)
            | (Body::NaiveBayesVbDp(learner), DocumentKind::NaiveBayesVbDp) => learner.settings() == &settings.batch,
            (Body::Svi(learner), kind) => {
                Some(learner.method()) == svi_method(kind) && learner.settings() == &settings.svi
            }
            (Body::Med(learner), kind) => {
                learner.settings() == &settings.supervised && kind.supervised() == Some(learner.settings().sort())
            }
            _ => false,
        }
    }
}
