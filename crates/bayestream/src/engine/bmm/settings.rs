//! What moment matching can be told, whatever it is told about.

use super::mixing::Rule;
use crate::model::{Settings, Variant};
use serde::{Deserialize, Serialize};

/// Largest share of what a topic expects that may follow the stream: a word that was never seen must stay possible.
pub(crate) const MOST_COMMON: f64 = 0.999;

/// Settings of moment matching. Of documents it is all there is; kinds of rows take theirs from [`Settings`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BmmSettings {
    /// The version that works, or the paper's.
    pub variant: Variant,
    /// Components expected before anything was seen: λ.
    pub lambda0: f64,
    /// Dirichlet parameter of a component without observations: γ. For LDA, ν at the beginning of each document.
    pub gamma: f64,
    /// Paper variant: draws of the number of components per observation, M.
    pub draws: usize,
    /// Most components.
    pub max_components: usize,
    /// Effective memory in observations (LDA: documents); `None` never forgets.
    pub memory: Option<f64>,
    /// Documents: Dirichlet parameter of every word in a topic without words; `None`: the kind's own.
    pub beta0: Option<f64>,
    /// Naive Bayes: how far a topic without words expects words as often as the whole stream has them.
    pub common: f64,
    /// Documents: topics with a smaller share of the words are left out of snapshots.
    pub delta: f64,
}

impl Default for BmmSettings {
    fn default() -> Self {
        BmmSettings {
            variant: Variant::Default,
            lambda0: 5.0,
            gamma: 1.0,
            draws: 1000,
            max_components: 300,
            memory: None,
            beta0: None,
            common: 0.9,
            delta: 1e-3,
        }
    }
}

impl BmmSettings {
    /// What suits LDA: few topics per document.
    pub fn for_lda() -> BmmSettings {
        BmmSettings { gamma: 0.005, ..BmmSettings::default() }
    }

    /// Those of a kind of rows.
    pub fn of_rows(settings: &Settings) -> BmmSettings {
        BmmSettings {
            variant: settings.variant,
            lambda0: settings.moments.lambda0,
            gamma: settings.moments.gamma,
            draws: settings.moments.draws,
            max_components: settings.max_components,
            memory: settings.memory,
            ..BmmSettings::default()
        }
    }

    /// How ν takes an observation, when observations are independent of each other.
    pub fn rule(&self) -> Rule {
        match self.variant {
            Variant::Default => Rule::Soft,
            Variant::Paper => Rule::Sampled { draws: self.draws },
        }
    }

    /// Says what is wrong, if anything: what a file must satisfy.
    pub fn check(&self) -> Result<(), String> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let sound = self.lambda0 >= 1.0
            && self.lambda0.is_finite()
            && positive(self.gamma)
            && (1..=1_000_000).contains(&self.draws)
            && (1..=10_000).contains(&self.max_components)
            && self.memory.is_none_or(|m| m >= 10.0 && m.is_finite())
            && self.beta0.is_none_or(positive)
            && (0.0..=MOST_COMMON).contains(&self.common)
            && (0.0..1.0).contains(&self.delta);
        if sound { Ok(()) } else { Err("its settings are out of range".into()) }
    }
}
