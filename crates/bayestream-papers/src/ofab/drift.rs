//! Streams that change: components replaced at once (figure 3), means that move, and streams that do not change.

mod abrupt;
mod gradual;
mod rivals;
mod stationary;

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(3000..3010);
    let mut outcome = abrupt::run(setting, &seeds)?;
    // Five of the ten seeds do for the rivals and the two side questions.
    let few = &seeds[..seeds.len().min(5)];
    let rivals = rivals::run(setting, few)?;
    outcome.notes.extend(rivals.notes);
    outcome.tables.extend(rivals.tables);
    outcome.figures.extend(rivals.figures);
    outcome.tables.push(gradual::run(setting, few)?);
    outcome.tables.push(stationary::run(setting, few)?);
    Ok(outcome)
}
