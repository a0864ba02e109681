//! Models of binary latent features in files of the same format as others.

use super::{FeatureBody, FeatureConfig, FeatureKind, FeatureModel};
use crate::engine::lfm::{Rival, Way};
use crate::model::file::{invalid, packed, unpacked};
use crate::model::{FormatError, Header, read_header};

impl FeatureModel {
    /// The model as bytes; the same model always gives the same bytes.
    pub fn save(&self) -> Vec<u8> {
        packed(&self.header(), self)
    }

    /// Reads what [`FeatureModel::save`] wrote.
    pub fn load(bytes: &[u8]) -> Result<FeatureModel, FormatError> {
        read_header(bytes)?.check_sort::<FeatureKind>()?;
        let mut model: FeatureModel = unpacked(bytes)?;
        model.config.check().map_err(|e| invalid(e.to_string()))?;
        if !model.body.fits(model.config.kind) {
            return Err(invalid("its learner is not of the kind it names".into()));
        }
        let n_columns = model.config.columns.len();
        model.body.learner_mut().restore(n_columns).map_err(invalid)?;
        Ok(model)
    }

    /// What the file will say of itself.
    pub fn header(&self) -> Header {
        let FeatureConfig { kind, settings, seed, columns, .. } = &self.config;
        Header::of(kind.name(), self.n_seen(), columns, *seed, settings.list(*kind))
    }
}

impl FeatureBody {
    fn fits(&self, kind: FeatureKind) -> bool {
        match self {
            FeatureBody::OnlineFab(_) => kind == FeatureKind::OnlineFab,
            FeatureBody::Batch(learner) => match learner.way() {
                Way::Fab(_) => kind == FeatureKind::Fab,
                Way::Rival(Rival::Em, _) => kind == FeatureKind::Em,
                Way::Rival(Rival::Ibp, _) => kind == FeatureKind::Ibp,
                Way::Rival(Rival::Vb, _) => kind == FeatureKind::Vb,
                Way::Rival(Rival::Meibp, _) => kind == FeatureKind::Meibp,
            },
        }
    }
}
