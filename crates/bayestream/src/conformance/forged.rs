//! Files whose checksum is right and one of whose numbers is not: they are refused, or what they say is still finite.

use super::places::{Place, numbers};
use serde::Serialize;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a number is replaced by.
const FORGERIES: [f64; 6] = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, -1e300];
/// Numbers of one name that are tried, spread over all there are.
const TRIED: usize = 5;

/// Forges numbers of every name in a model's file, one at a time, and hands the file to `harmless`, which loads it and
/// says what is wrong with the model that comes out; a file that is refused is harmless. All that is wrong is told at
/// once, by the names of the numbers. `saw` is called for every forgery.
pub(super) fn forge(
    model: &impl Serialize,
    file: &[u8],
    harmless: impl Fn(&[u8]) -> Result<(), String>,
    mut saw: impl FnMut(),
) -> Result<(), String> {
    let mut named: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for place in numbers(model) {
        named.entry(place.name.clone()).or_default().push(place);
    }
    let mut wrong = Vec::new();
    for (name, places) in &named {
        let step = places.len().div_ceil(TRIED);
        for forgery in FORGERIES {
            saw();
            let harm = places.iter().step_by(step).find_map(|place| {
                let bytes = forged(file, place, forgery);
                match catch_unwind(AssertUnwindSafe(|| harmless(&bytes))) {
                    Ok(outcome) => outcome.err(),
                    Err(_) => Some("it panics".into()),
                }
            });
            wrong.extend(harm.map(|why| format!("{name} = {forgery:e}: {why}")));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{} forgeries do harm:\n    {}", wrong.len(), wrong.join("\n    "))),
    }
}

/// The file with another number in its place, and a checksum that is right.
fn forged(file: &[u8], place: &Place, value: f64) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let n_header = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let at = 24 + n_header + place.at;
    match place.width {
        4 => bytes[at..at + 4].copy_from_slice(&(value as f32).to_le_bytes()),
        _ => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
    }
    let end = bytes.len() - 4;
    let crc = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&crc.to_le_bytes());
    bytes
}
