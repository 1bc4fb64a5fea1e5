//! Draft heads against what their reference code drafts from the same text: tokens and logits of every draft,
//! of texts that grow by verification.

use super::golden::{argmax, assert_close, data, f32s, forward, ids, json, on_cpu};
use super::pairs::{golden, greedy_is_the_same_with_any_drafts, sampling_does_not_depend_on_the_batch};
use bass_tui::backend::cpu::CpuNetwork;
use bass_tui::backend::{Candidate, ChoiceRules, Drafts, Dtype, LoadOptions, Network, SeqId, Wanted};
use bass_tui::engine::DraftVocabulary;
use bass_tui::engine::drafter::{CHAIN, LookupChanges};
use bass_tui::model::spec::HeadKind;
use bass_tui::model::{DraftHead, Model, ModelFiles};
use bass_tui::sampling::{Accept, Draft, Sampling};
use bass_tui::source::{Drafting, LocalModels, LocalSource, Source};
use safetensors::SafeTensors;

/// Heads, their main models, and the models with the texts.
const HEADS: [(&str, &str, &str); 6] = [
    ("qwen3-eagle3", "qwen3", "qwen3"),
    ("llama3-eagle3", "llama3", "llama3"),
    ("qwen3-dflash", "qwen3", "qwen3"),
    ("qwen3-dflash-sliding", "qwen3", "qwen3"),
    // Layers that came with their models.
    ("qwen3-5-mtp", "qwen3-5-mtp", "qwen3-5"),
    ("qwen3-5-moe-mtp", "qwen3-5-moe-mtp", "qwen3-5-moe"),
];

/// Best tokens of a row that are expected.
const TOP: usize = 16;

fn load(head: &str, main: &str) -> (CpuNetwork, DraftHead) {
    let files = ModelFiles::Folder(data().join("models").join(main));
    let model = Model::load(&files).expect(main);
    let mut network = on_cpu(&model, Dtype::F32);
    let head = if head == main {
        DraftHead::of_main(&files, &model).expect(main).expect("a layer for the next tokens")
    } else {
        DraftHead::load(&data().join("models").join(head), &model.spec).expect(head)
    };
    network.attach(&head, Dtype::F32).expect("a head that fits");
    (network, head)
}

/// A text that is being written, twice.
struct Texts<'a> {
    network: CpuNetwork,
    head: DraftHead,
    forks: Vec<SeqId>,
    rules: ChoiceRules<'a>,
}

impl Texts<'_> {
    /// Drafts of so many tokens, and the logits of the last of them by id.
    fn draft(&mut self, text: &[u32], length: usize) -> (Vec<u32>, Vec<f32>) {
        let Self { network, forks, rules, .. } = self;
        let of = |(index, &seq)| Candidate { seq, index, tokens: text, rules: *rules };
        let candidates: Vec<_> = (0..).zip(&*forks).map(of).collect();
        let drafts = network.draft_with_head(&candidates, &vec![length; forks.len()]).expect("drafts");
        assert!(forks.iter().all(|&seq| network.len(seq) == text.len() - 1), "nothing is read");
        let tokens = |drafts: &Drafts| drafts.host().expect("host").iter().map(|draft| draft.token).collect::<Vec<_>>();
        assert!(drafts.iter().all(|of| tokens(of) == tokens(&drafts[0])), "in company");
        let rows = network.draft_head_logits();
        let width = if let HeadKind::Chain { tokens, .. } = self.head.kind { tokens } else { network.vocab_size() };
        // Of a chain the rows of the last pass, of a block all rows of each candidate.
        let of_first = rows.len() / forks.len();
        let row = &rows[of_first - width..of_first];
        assert_eq!(row, &rows[rows.len() - width..], "in company, to the bit");
        let mut logits = vec![f32::NEG_INFINITY; network.vocab_size()];
        match &self.head.ids {
            Some(ids) => ids.iter().zip(row).for_each(|(&id, &logit)| logits[id as usize] = logit),
            None => logits.copy_from_slice(row),
        }
        (tokens(&drafts[0]), logits)
    }

    /// Verifies the continuation `right` but for its last token, and a wrong one.
    fn go_on(&mut self, text: &[u32], right: &[u32]) {
        let (last, before) = right.split_last().expect("a continuation");
        let drafts = before.iter().chain([&(last ^ 1), last]).map(|&token| Draft::certain(token)).collect();
        let drafts = vec![Drafts::Host(drafts); self.forks.len()];
        let rules = self.rules;
        let candidates: Vec<_> =
            (0..).zip(&self.forks).map(|(index, &seq)| Candidate { seq, index, tokens: text, rules }).collect();
        for accepted in self.network.verify(&candidates, &drafts).expect("verified") {
            assert_eq!(accepted.tokens, right, "the main model's own path");
        }
    }
}

#[test]
fn heads_draft_as_their_reference_code_does() {
    for (name, main, texts_of) in HEADS {
        let folder = data().join("models").join(name);
        let file = if name == main { "draft" } else { "expected" };
        let expected = json(&folder.join(file).with_extension("json"));
        let targets = json(&data().join("models").join(texts_of).join("expected.json"));
        let file = std::fs::read(folder.join(file).with_extension("safetensors")).expect("expected");
        let tensors = SafeTensors::deserialize(&file).expect("safetensors");
        for (prompt, texts) in expected["prompts"].as_object().expect("prompts") {
            let (mut network, head) = load(name, main);
            let target = &targets["prompts"][prompt];
            let (read, path) = (ids(&target["input_ids"]), ids(&target["greedy_ids"]));
            let vocab = network.vocab_size();
            let (sampling, accept) = (&Sampling::GREEDY, Accept::Coupled);
            let rules = ChoiceRules { sampling, accept, seed: 0, vocab, alternatives: 0 };
            // In parts, as long prompts are read.
            let seq = network.open(read.len()).expect("memory");
            let (shared, half) = (read.len() - 1, read.len() / 2);
            for part in [0..half, half..shared].into_iter().filter(|part| !part.is_empty()) {
                forward(&mut network, seq, part.start, &read[part], Wanted::Nothing);
            }
            let forks = network.fork(seq, 2, 60).expect("memory");
            let mut run = Texts { network, head, forks, rules };
            let mut text = read.clone();
            for expected in texts["texts"].as_array().expect("texts") {
                let length = expected["length"].as_u64().expect("a length") as usize;
                let more = &path[text.len() - read.len()..length - read.len()];
                if !more.is_empty() {
                    run.go_on(&text, more);
                    text.extend(more);
                }
                if length == 1 {
                    // Drafted from no states at all.
                    continue;
                }
                let what = format!("{name}, {prompt}, {length} tokens");
                let drafts = ids(&expected["drafts"]);
                let after = length - read.len();
                let top_ids = tensors.tensor(&format!("{prompt}.{after}.top_ids")).expect("ids").data();
                let top_ids: Vec<u32> =
                    top_ids.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                let top = f32s(&tensors, &format!("{prompt}.{after}.top_logits"));
                for count in 1..=drafts.len() {
                    let (found, logits) = run.draft(&text, count);
                    assert_eq!(found, drafts[..count], "{what}, {count} drafts");
                    assert_eq!(argmax(&logits), drafts[count - 1], "{what}");
                    let row = (count - 1) * TOP..count * TOP;
                    let found: Vec<f32> = top_ids[row.clone()].iter().map(|&id| logits[id as usize]).collect();
                    assert_close(&format!("{what}, draft {count}"), &found, &top[row]);
                }
            }
        }
    }
}

#[test]
fn nothing_is_drafted_without_states_or_without_room() {
    for (name, main, _) in HEADS {
        let (mut network, _) = load(name, main);
        let vocab = network.vocab_size();
        let rules =
            ChoiceRules { sampling: &Sampling::GREEDY, accept: Accept::Coupled, seed: 0, vocab, alternatives: 0 };
        let seq = network.open(4).expect("memory");
        let drafted = |network: &mut CpuNetwork, seq, tokens: &[u32], length| {
            let drafts = network.draft_with_head(&[Candidate { seq, index: 0, tokens, rules }], &[length]);
            drafts.map(|drafts| drafts[0].count())
        };
        let first = network.fork(seq, 1, 20).expect("memory")[0];
        assert_eq!(drafted(&mut network, first, &[5], 3).expect("nothing"), 0, "{name}: the first token");
        network.close(first);
        forward(&mut network, seq, 0, &[5, 6, 7], Wanted::Nothing);
        let fork = network.fork(seq, 1, 3).expect("memory")[0];
        let count = drafted(&mut network, fork, &[5, 6, 7, 8], 9).expect("room for a few");
        assert!((1..=3).contains(&count), "{name}: {count} with room for 3");
        let error = drafted(&mut network, fork, &[5, 6, 7, 8, 9], 1).expect_err("two unread tokens").to_string();
        assert!(error.contains("more than one unread token"), "{error}");
        assert_eq!(network.len(fork), 3);
    }
}

/// Promise 1: what a head drafts never changes what is written.
#[test]
fn heads_change_nothing() {
    for (name, main, _) in [HEADS[0], HEADS[3], HEADS[4]] {
        let pair = golden(main, name);
        greedy_is_the_same_with_any_drafts(&pair);
        sampling_does_not_depend_on_the_batch(&pair);
    }
}

#[test]
fn heads_of_other_models_are_refused() {
    let folder = |name: &str| data().join("models").join(name);
    let spec = |main: &str| Model::load(&ModelFiles::Folder(folder(main))).expect(main).weights.spec;
    for (head, main, field, expected) in [
        ("qwen3-eagle3", "qwen2-parallel", "hidden_size", "32, that of the main model"),
        ("qwen3-dflash", "gemma", "hidden_size", "40, that of the main model"),
        ("qwen3-dflash", "llama3", "vocab_size", "4096, that of the main model"),
    ] {
        let error = DraftHead::load(&folder(head), &spec(main)).err().expect(head).to_string();
        assert!(error.contains(field) && error.contains(expected) && error.contains("config.json"), "{error}");
    }
    let error = Model::load(&ModelFiles::Folder(folder("qwen3-eagle3"))).err().expect("no model").to_string();
    assert!(error.contains("this is a draft head; give it to --draft"), "{error}");
    assert!(DraftHead::is_at(&ModelFiles::Folder(folder("qwen3-dflash"))));
    assert!(!DraftHead::is_at(&ModelFiles::Folder(folder("qwen3"))));
}

/// A layer for the next tokens that cannot be read is done without: its model is used as before.
#[test]
fn a_model_whose_own_layer_is_damaged_is_used_without_it() {
    let loaded = |case: &str| {
        let models = LocalModels {
            main: ModelFiles::Folder(data().join("models").join(case)),
            draft: Drafting::Named(CHAIN, LookupChanges::default(), None),
            own_head: true,
            draft_vocabulary: DraftVocabulary::Auto,
            draft_dtype: Dtype::Auto,
            chat: None,
            load: LoadOptions::default(),
            profiles: None,
            weights: None,
            kv_cache: 0,
            shared: None,
        };
        LocalSource::open(&models).expect(case).info().draft
    };
    assert_eq!(loaded("qwen3-5-mtp"), "mtp");
    let files = ModelFiles::Folder(data().join("models/qwen3-5"));
    let error = DraftHead::of_main(&files, &Model::load(&files).expect("a model")).err().expect("another size");
    assert!(error.to_string().contains("mtp.fc.weight"), "{error}");
    assert_eq!(loaded("qwen3-5"), "lookup");
}
