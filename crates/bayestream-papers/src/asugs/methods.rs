//! The ways to learn that are set side by side.

use crate::error::ReproduceError;
use bayestream::model::{Kind, Settings};

/// A kind, and what is set of it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub name: &'static str,
    pub kind: Kind,
    pub set: &'static [(&'static str, &'static str)],
}

const PRINTED: &[(&str, &str)] = &[("prune-merge", "paper")];
const EXACT: &[(&str, &str)] = &[("prune-merge", "exact")];

pub const SUGS: Method = Method { name: "SUGS", kind: Kind::GmmSugs, set: &[] };
pub const SUGS_PM: Method = Method { name: "SUGS-PM, as printed", kind: Kind::GmmSugs, set: PRINTED };
pub const SUGS_EXACT: Method = Method { name: "SUGS-PM, exact", kind: Kind::GmmSugs, set: EXACT };
pub const ASUGS: Method = Method { name: "ASUGS", kind: Kind::GmmAsugs, set: &[] };
pub const ASUGS_PM: Method = Method { name: "ASUGS-PM, as printed", kind: Kind::GmmAsugs, set: PRINTED };
pub const ASUGS_EXACT: Method = Method { name: "ASUGS-PM, exact", kind: Kind::GmmAsugs, set: EXACT };
pub const SVA: Method = Method { name: "SVA", kind: Kind::GmmSva, set: &[] };
pub const SVA_PM: Method = Method { name: "SVA-PM, as printed", kind: Kind::GmmSva, set: PRINTED };
pub const SVA_EXACT: Method = Method { name: "SVA-PM, exact", kind: Kind::GmmSva, set: EXACT };
pub const DPMM: Method = Method { name: "dpmm", kind: Kind::GmmDp, set: &[] };

/// All of them, in the order of the tables.
pub const METHODS: [Method; 10] =
    [SUGS, SUGS_PM, SUGS_EXACT, ASUGS, ASUGS_PM, ASUGS_EXACT, SVA, SVA_PM, SVA_EXACT, DPMM];

impl Method {
    /// Its settings, and what is set besides.
    pub fn settings(&self, besides: &[(&str, &str)]) -> Result<Settings, ReproduceError> {
        let mut settings = Settings::default();
        for (name, value) in self.set.iter().chain(besides) {
            settings.set(self.kind, name, value)?;
        }
        Ok(settings)
    }

    /// The kind and what is set, as on the command line.
    pub fn command(&self) -> String {
        let set: String = self.set.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
        format!("`{}{set}`", self.kind)
    }
}

/// What tables say of the pruning and merging of `as printed` and `exact`.
pub const ABOUT_PRUNING: &str = "PM is pruning and merging, every 50 rows: `as printed` by relative weight and by the \
     distance of posteriors over time (`--set prune-merge=paper`), `exact` by the marginal likelihood and by weight per \
     age (`--set prune-merge=exact`).";

/// What tables say of the prior.
pub const ABOUT_PRIOR: &str = "No prior is printed. All methods choose theirs from one grid of scales and strengths, by \
     how well each first row is foretold from those before it; the rest is default.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_takes_its_settings() {
        for (ix, method) in METHODS.iter().enumerate() {
            method.settings(&[("prior-scale", "0.02"), ("nu0", "70")]).unwrap();
            assert!(METHODS[..ix].iter().all(|other| other.name != method.name));
        }
        assert_eq!(SVA_PM.command(), "`gmm/sva --set prune-merge=paper`");
        assert!(DPMM.settings(&[("epsilon", "0.1")]).is_err());
    }
}
