//! Model files against arbitrary and mutated bytes: an error or a sound model, never a panic.

use bayestream::data::Batch;
use bayestream::model::{Config, KINDS, Model, SETTINGS, Settings, Variant, read_header};
use bayestream::synthetic::{Covariance, ofab_truth};
use proptest::prelude::*;
use std::sync::OnceLock;

/// Saved models of every kind and variant, before and after there is something to say.
fn saved() -> &'static [Vec<u8>] {
    static SAVED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAVED.get_or_init(|| {
        let (rows, _) = ofab_truth(3, 2, Covariance::Aat, 20_040).sample(700, 20_040);
        let mut files = Vec::new();
        for info in &KINDS {
            for variant in [Variant::Default, Variant::Paper] {
                for n in [0, 40, 700] {
                    let mut config = Config::new(info.kind, vec!["a".into(), "b".into()]);
                    config.settings.variant = variant;
                    let mut model = Model::new(config).unwrap();
                    for batch in rows[..2 * n].chunks(100) {
                        model.update(&Batch::new(batch, 2).unwrap()).unwrap();
                    }
                    model.finish();
                    files.push(model.save());
                }
            }
        }
        files
    })
}

/// Puts the checksum right, so that what lies behind it is reached.
fn seal(bytes: &mut [u8]) {
    let end = bytes.len() - 4;
    let crc = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&crc.to_le_bytes());
}

/// Where the body begins.
fn body_at(bytes: &[u8]) -> usize {
    24 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
}

/// Whatever loads must work: the file was sound, so the model is.
fn try_out(bytes: &[u8]) {
    let _ = read_header(bytes);
    if let Ok(mut model) = Model::load(bytes) {
        let d = model.columns().len();
        let rows: Vec<f64> = (0..20 * d).map(|i| (i * 37 % 23) as f64 * 0.7).collect();
        model.snapshot();
        model.update(&Batch::new(&rows, d).unwrap()).unwrap();
        model.finish();
        let mut scores = Vec::new();
        model.snapshot().scorer().score(&rows, &mut scores);
        model.save();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Model::load(&bytes).is_err());
        prop_assert!(read_header(&bytes).is_err());
    }

    #[test]
    fn arbitrary_bytes_behind_a_sound_envelope_never_panic(
        header in prop::collection::vec(any::<u8>(), 0..60),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut bytes = b"BAYESTRM".to_vec();
        bytes.extend(1u32.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(header);
        bytes.extend(body);
        bytes.extend([0; 4]);
        seal(&mut bytes);
        try_out(&bytes);
    }

    #[test]
    fn mutated_files_are_refused(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), change in 1u8..) {
        let mut bytes = file.get(saved()).clone();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(Model::load(&bytes).is_err());
        prop_assert!(read_header(&bytes).is_err());
    }

    #[test]
    fn mutated_files_with_a_right_checksum_never_panic(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = file.get(saved()).clone();
        let first = body_at(&bytes);
        let n = bytes.len() - 4 - first;
        for (at, value) in changes {
            bytes[first + at.index(n)] = value;
        }
        seal(&mut bytes);
        try_out(&bytes);
    }

    #[test]
    fn settings_come_back_from_the_text_they_print(
        delta in 0.0..1.0_f64, memory in 10.0..1e9_f64, warm_up in 10usize..=100_000, tau in 0.0..1e6_f64,
        kappa in 1e-6..=1.0_f64, drift: bool,
    ) {
        let kind = KINDS[0].kind;
        let settings = Settings { delta: Some(delta), memory: Some(memory), warm_up, tau, kappa, drift, ..Settings::default() };
        let mut again = Settings::default();
        for (name, value) in settings.list(kind) {
            again.set(kind, name, &value).unwrap();
        }
        prop_assert_eq!(again, settings);
    }

    #[test]
    fn settings_take_numbers_or_refuse_them_without_change(ix in 0..SETTINGS.len(), number in any::<f64>()) {
        let kind = KINDS[0].kind;
        let mut settings = Settings::default();
        match settings.set(kind, SETTINGS[ix].name, &number.to_string()) {
            Ok(()) => {
                let mut again = Settings::default();
                for (name, value) in settings.list(kind) {
                    again.set(kind, name, &value).unwrap();
                }
                prop_assert_eq!(again, settings);
            }
            Err(_) => prop_assert_eq!(settings, Settings::default()),
        }
    }
}

/// The first bytes of a body hold lengths, kinds and settings: every one of them in turn.
#[test]
fn every_leading_byte_of_a_body_may_be_wrong() {
    for file in saved() {
        let first = body_at(file);
        for at in first..(first + 150).min(file.len() - 4) {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = file.clone();
                bytes[at] ^= change;
                seal(&mut bytes);
                let _ = Model::load(&bytes);
            }
        }
    }
}
