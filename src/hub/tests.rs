//! Downloads from a server that behaves like the hub, and from one that doesn't.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::pull::Pulled;
use super::*;
use crate::hash;
use crate::model::{Model, ModelFiles};
use crate::web::Patience;

#[path = "../../tests/shared/hub.rs"]
mod server;
use server::{Content, Hub};

const ID: &str = "org/tiny";

struct World {
    folder: TempDir,
    hub: Hub,
    token: Option<String>,
}

fn golden(file: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models/qwen2").join(file)).unwrap()
}

fn large(bytes: Vec<u8>) -> Content {
    let etag = hash::hex(&Sha256::digest(&bytes));
    Content { bytes, etag, large: true }
}

fn small(bytes: Vec<u8>) -> Content {
    Content { etag: format!("{:040x}", bytes.len()), bytes, large: false }
}

/// A real model, its weights as a large file.
fn model() -> HashMap<String, Content> {
    let mut files = HashMap::from([("model.safetensors".to_owned(), large(golden("model.safetensors")))]);
    for file in ["config.json", "generation_config.json", "tokenizer.json"] {
        files.insert(file.to_owned(), small(golden(file)));
    }
    files.insert("README.md".to_owned(), small(b"text".to_vec()));
    files.insert("pytorch_model.bin".to_owned(), large(vec![7; 100]));
    files
}

impl World {
    fn new(files: HashMap<String, Content>) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), hub: Hub::start(ID, files), token: None }
    }

    fn cache(&self) -> HubCache {
        HubCache { folder: self.folder.path().join("hub") }
    }

    fn pull(&self, name: &str) -> Result<Pulled, String> {
        let mut access = Access::new(&self.hub.endpoint).unwrap();
        access.token.clone_from(&self.token);
        let repository = Repository::parse(name).unwrap();
        pull(&repository, &self.cache(), &access, Patience::QUICK, &|_| {}).map_err(|e| e.to_string())
    }

    fn refused(&self, words: &[&str]) {
        let message = self.pull(ID).expect_err("refused");
        for word in words {
            assert!(message.contains(word), "no {word:?} in {message:?}");
        }
    }

    fn found(&self, name: &str) -> Option<ModelFiles> {
        self.cache().find_model(&Repository::parse(name).unwrap())
    }

    /// Names of all files in the repository's folder.
    fn files(&self, folder: &str) -> Vec<String> {
        let all = fs::read_dir(self.cache().folder.join("models--org--tiny").join(folder)).unwrap();
        let mut names: Vec<String> = all.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// How often a large file was asked for.
    fn fetched(&self) -> usize {
        self.hub.asked().iter().filter(|asked| asked.at_store).count()
    }
}

#[test]
fn a_model_is_fetched_found_and_loaded() {
    let world = World::new(model());
    assert!(world.found(ID).is_none());
    let pulled = world.pull(ID).unwrap();
    assert_eq!(pulled.bytes, pulled.came);
    let snapshot = format!("snapshots/{}", world.hub.commit());
    assert_eq!(
        world.files(&snapshot),
        ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json"],
        "only what is needed"
    );
    assert_eq!(
        fs::read_to_string(world.cache().folder.join("models--org--tiny/refs/main")).unwrap(),
        world.hub.commit()
    );
    // As the hub's own tools lay it out: links that hold when the cache is moved.
    let link = fs::read_link(pulled.folder.join("config.json")).unwrap();
    assert!(link.starts_with("../../blobs"), "{link:?}");
    assert!(!world.files("blobs").iter().any(|name| name.ends_with("incomplete")));
    let Some(ModelFiles::Folder(folder)) = world.found(ID) else { panic!("not found") };
    assert!(Model::load(&ModelFiles::Folder(folder)).is_ok());
    let again = world.pull(ID).unwrap();
    assert_eq!((again.came, world.fetched()), (0, 1));
}

#[test]
fn what_the_listing_lacks_is_asked_for() {
    let world = World::new(model());
    world.hub.faults().bare = true;
    world.pull(ID).unwrap();
    assert!(world.found(ID).is_some());
}

#[test]
fn a_cut_connection_is_gone_on_with() {
    let world = World::new(model());
    let size = golden("model.safetensors").len();
    world.hub.faults().cut = (size / 4, 2);
    world.pull(ID).unwrap();
    let ranges: Vec<String> =
        world.hub.asked().iter().filter(|a| a.at_store).filter_map(|a| a.headers.get("range").cloned()).collect();
    assert_eq!(ranges, [format!("bytes={}-", size / 4), format!("bytes={}-", size / 4 * 2)]);
}

#[test]
fn a_second_try_goes_on_where_the_first_gave_up() {
    let world = World::new(model());
    // The first connection gives a quarter, all others nothing.
    world.hub.faults().cut = (golden("model.safetensors").len() / 4, 1);
    let cut_again = || world.hub.faults().cut.1 == 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !cut_again() {
                std::thread::sleep(Duration::from_micros(50));
            }
            world.hub.faults().cut = (0, 100);
        });
        world.refused(&["broke 3 times", "what was downloaded so far is kept"]);
    });
    assert!(world.found(ID).is_none(), "half a model is none");
    let kept: u64 = fs::read_dir(world.cache().folder.join("models--org--tiny/blobs"))
        .unwrap()
        .filter_map(|e| e.unwrap().path().extension().is_some().then_some(1))
        .sum();
    assert_eq!(kept, 1);
    world.hub.faults().cut.1 = 0;
    let pulled = world.pull(ID).unwrap();
    assert!(pulled.came < pulled.bytes && world.found(ID).is_some());
}

#[test]
fn a_hub_without_ranges_begins_anew() {
    let world = World::new(model());
    *world.hub.faults() = server::Faults { cut: (1000, 1), no_ranges: true, ..Default::default() };
    world.pull(ID).unwrap();
    assert!(world.found(ID).is_some());
}

#[test]
fn damaged_files_are_thrown_away() {
    let mut files = model();
    files.get_mut("model.safetensors").unwrap().bytes[100] ^= 1;
    let world = World::new(files);
    world.refused(&["model.safetensors is damaged", "SHA-256", "expected"]);
    assert!(world.found(ID).is_none());
    assert!(!world.files("blobs").iter().any(|name| name.ends_with("incomplete")));

    // Files of an earlier try may be wrong.
    let world = World::new(model());
    let blobs = world.cache().folder.join("models--org--tiny/blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(format!("{}.incomplete", large(golden("model.safetensors")).etag));
    fs::write(&part, [1; 50]).unwrap();
    world.refused(&["SHA-256"]);
    world.pull(ID).unwrap();

    let world = World::new(model());
    world.hub.faults().longer = 5;
    world.refused(&["model.safetensors is damaged", "size is larger"]);
}

#[test]
fn refusals_are_sentences() {
    let closed = |status, code| {
        let world = World::new(model());
        world.hub.faults().closed = Some((status, code, "hf_right".to_owned()));
        world
    };
    closed(403, "GatedRepo").refused(&["org/tiny is gated", "accept its terms", "HF_TOKEN", "none is set"]);
    closed(401, "GatedRepo").refused(&["is gated"]);
    closed(401, "RepoNotFound").refused(&["no repository org/tiny", "private"]);
    let mut world = closed(403, "GatedRepo");
    world.token = Some("hf_wrong".to_owned());
    world.refused(&["has no access"]);
    assert!(!world.pull(ID).unwrap_err().contains("hf_wrong"));
    let message = World::new(model()).pull("org/other").unwrap_err();
    assert!(message.contains("there is no repository org/other"), "{message}");
    let message = World::new(model()).pull("org/tiny@v2").unwrap_err();
    assert!(message.contains("org/tiny has no revision v2"), "{message}");
    let world = World::new(HashMap::from([("pytorch_model.bin".to_owned(), large(vec![1]))]));
    world.refused(&["only as pickles (pytorch_model.bin)", "never run"]);
    assert_eq!(world.fetched(), 0);
}

#[test]
fn the_token_never_leaves_the_hub() {
    let mut world = World::new(model());
    world.hub.faults().closed = Some((401, "GatedRepo", "hf_right".to_owned()));
    world.token = Some("hf_right".to_owned());
    world.pull(ID).unwrap();
    for asked in world.hub.asked() {
        assert_eq!(asked.headers.contains_key("authorization"), !asked.at_store, "{}", asked.path);
    }
    assert_eq!(world.fetched(), 1);
}

#[test]
fn a_busy_hub_is_waited_for_but_not_for_ever() {
    let world = World::new(model());
    world.hub.faults().busy = (1, "1".to_owned());
    world.pull(ID).unwrap();
    let world = World::new(model());
    world.hub.faults().broken = 2;
    world.pull(ID).unwrap();
    for wait in ["3600", "1e9", "99999999999999999999"] {
        let world = World::new(model());
        world.hub.faults().busy = (1000, wait.to_owned());
        let begun = std::time::Instant::now();
        world.refused(&["takes no more requests now"]);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    let world = World::new(model());
    world.hub.faults().broken = 1000;
    world.refused(&["status 500"]);
}

#[test]
fn silence_and_endless_headers_end_in_an_error() {
    let world = World::new(model());
    world.hub.faults().endless = true;
    world.refused(&["cannot be reached"]);
    // A slow file comes, as long as something comes.
    let mut files = model();
    files.insert("model.safetensors".to_owned(), large(vec![1; 12 << 10]));
    let world = World::new(files);
    world.hub.faults().slow = Some(Duration::from_millis(60));
    world.pull(ID).unwrap();
    let mut files = model();
    files.insert("model.safetensors".to_owned(), large(vec![1; 8]));
    let world = World::new(files);
    world.hub.faults().silent = true;
    let begun = std::time::Instant::now();
    let done = world.pull(ID);
    // Each connection gives half of what is left and is then silent; the last one gives nothing.
    assert!(done.unwrap_err().contains("broke 3 times"));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn nobody_listens() {
    let access = Access::new("http://127.0.0.1:1").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cache = HubCache { folder: folder.path().into() };
    let error =
        pull(&Repository::parse(ID).unwrap(), &cache, &access, Patience::QUICK, &|_| {}).err().unwrap().to_string();
    assert!(error.starts_with("127.0.0.1 cannot be reached") && error.contains("HTTPS_PROXY"), "{error}");
}

#[test]
fn what_is_too_large_or_cannot_be_used_is_not_begun() {
    let mut files = model();
    files.remove("model.safetensors");
    let index = br#"{"weight_map":{"a":"huge.safetensors"}}"#;
    files.insert("model.safetensors.index.json".to_owned(), small(index.to_vec()));
    let world = World::new(files.clone());
    world.hub.faults().also = Some(("huge.safetensors".to_owned(), 1 << 60));
    world.refused(&["free", "1152921.5 TB have to be downloaded", "HF_HOME"]);
    files.insert("config.json".to_owned(), small(br#"{"architectures":["BertModel"],"model_type":"bert"}"#.to_vec()));
    let world = World::new(files);
    world.hub.faults().also = Some(("huge.safetensors".to_owned(), 9));
    world.refused(&["org/tiny cannot be used, its weights were not downloaded", "BertModel"]);
}

#[test]
fn names_that_lead_out_of_the_cache_are_left_out() {
    let world = World::new(model());
    world.hub.faults().also = Some(("../../../escaped".to_owned(), 4));
    world.pull(ID).unwrap();
    assert!(!world.folder.path().join("escaped").exists());
    world.hub.faults().also = Some(("../../../escaped-q4.gguf".to_owned(), 4));
    assert!(world.pull("org/tiny:q4").unwrap_err().contains("q4 is no file of org/tiny"));
    let mut files = model();
    files.get_mut("config.json").unwrap().etag = "../../escaped".to_owned();
    World::new(files).refused(&["ETag"]);
}

#[test]
fn one_gguf_model_is_fetched_and_deleted() {
    let files = ["m-q8-00001-of-00002.gguf", "m-q8-00002-of-00002.gguf", "m-q4.gguf"];
    let files = files.map(|name| (name.to_owned(), large(name.as_bytes().to_vec())));
    let world = World::new(HashMap::from(files));
    world.refused(&["m-q4.gguf", "name one as org/tiny:FILE"]);
    world.pull("org/tiny:q8").unwrap();
    assert_eq!(world.fetched(), 2);
    world.pull("org/tiny:m-q4.gguf").unwrap();
    let Some(ModelFiles::Gguf(file)) = world.found("org/tiny:q8") else { panic!("not found") };
    assert!(file.ends_with("m-q8-00001-of-00002.gguf"));
    let held = world.cache().held(&Repository::parse("org/tiny:q8").unwrap()).unwrap();
    held.delete().unwrap();
    assert!(world.found("org/tiny:q8").is_none() && world.found("org/tiny:q4").is_some());
    assert_eq!((held.bytes, world.files("blobs").len()), (48, 1));
    world.cache().held(&Repository::parse(ID).unwrap()).unwrap().delete().unwrap();
    assert!(world.found("org/tiny:q4").is_none() && !world.cache().folder.join("models--org--tiny").exists());
}

#[test]
fn a_file_that_another_program_fetches_is_left_alone() {
    let world = World::new(model());
    let locks = world.cache().folder.join(".locks/models--org--tiny");
    fs::create_dir_all(&locks).unwrap();
    let lock = fs::File::create(locks.join(format!("{}.lock", large(golden("model.safetensors")).etag))).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    world.refused(&["being downloaded by another program"]);
    drop(lock);
    world.pull(ID).unwrap();
}
