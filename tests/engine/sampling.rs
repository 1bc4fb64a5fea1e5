//! Filtered distributions equal those of HF transformers, for every combination of settings in the reference
//! file.

use std::path::Path;

use bass_tui::sampling::{Distribution, Sampling};
use safetensors::SafeTensors;
use serde_json::{Value, json};

fn floats(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let data = file.tensor(name).unwrap().data().to_vec();
    data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn settings(v: &Value) -> Sampling {
    let mut all = json!({ "temperature": 1.0 });
    all.as_object_mut().unwrap().extend(v.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

#[test]
fn distributions_equal_the_reference() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sampling");
    let bytes = std::fs::read(dir.join("sampling.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let rows: Value = serde_json::from_slice(&std::fs::read(dir.join("sampling.json")).unwrap()).unwrap();
    let rows = rows["rows"].as_array().unwrap();
    assert!(rows.len() > 100);

    for row in rows {
        let id = row["id"].as_str().unwrap();
        let logits = floats(&file, row["logits"].as_str().unwrap());
        let mut want = floats(&file, row["probs"].as_str().unwrap());
        let previous: Vec<u32> =
            row["previous_ids"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as u32).collect();
        let d = Distribution::new(&logits, &settings(&row["settings"]), &previous);
        let mut got: Vec<f32> = (0..logits.len() as u32).map(|i| d.prob(i)).collect();

        let kept = got.iter().filter(|&&p| p > 0.0).count() as u64;
        // A cut within rounding of 1 - p may fall on either side of one token.
        if row["boundary"].as_f64().is_none_or(|b| b > 1e-6) {
            assert_eq!(kept, row["kept"].as_u64().unwrap(), "{id}: number of tokens kept");
        }
        if row["tie_at_cut"].as_bool() == Some(true) {
            got.sort_by(f32::total_cmp);
            want.sort_by(f32::total_cmp);
        }
        let worst = got.iter().zip(&want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= 1e-6, "{id}: probabilities differ by {worst}");
    }
}
