//! Names in the documents and the help are those that the program reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::world::{World, repository};

const COMMANDS: [&[&str]; 17] = [
    &[],
    &["complete"],
    &["serve"],
    &["test"],
    &["models"],
    &["models", "remove"],
    &["bench"],
    &["doctor"],
    &["eval"],
    &["init"],
    &["undo"],
    &["history", "list"],
    &["history", "show"],
    &["config"],
    &["paths"],
    &["completions"],
    &["man"],
];

/// The flags in a text.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 3).map(str::to_owned).collect()
}

/// The pieces of code in a document that are about this program.
fn code(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.lines().filter(|line| line.trim_start().starts_with("bass-tui "));
    let spans = document.split('`').skip(1).step_by(2);
    blocks.chain(
        spans.filter(|span| (span.starts_with("--") && !span.starts_with("-- ")) || span.starts_with("bass-tui ")),
    )
}

#[test]
fn every_flag_in_the_documents_is_in_the_help() {
    let world = World::new();
    let help: String =
        COMMANDS.iter().map(|command| world.run(&[command, &["--help"][..]].concat()).code(0).out).collect();
    let known = flags(&help);
    assert!(known.contains("--draft-length") && known.contains("--results"), "{known:?}");
    for document in [
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/keys.md", "docs/models.md",
        "docs/performance.md", "docs/serve.md", "docs/servers.md", "docs/settings.md", "docs/tests.md",
    ] {
        let text = fs::read_to_string(repository(document)).unwrap();
        let unknown: Vec<String> = code(&text).flat_map(flags).filter(|flag| !known.contains(flag)).collect();
        assert!(unknown.is_empty(), "{document} names {unknown:?}, and no help does");
    }
}

#[test]
fn every_setting_in_the_documents_is_read() {
    let world = World::new();
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let samples: Vec<&str> = readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!samples.is_empty());
    for sample in samples {
        world.config(sample);
        assert_eq!(world.run(&["models"]).code(0).err, "", "{sample}");
    }
    // Every flag of the screen that stands for a setting is one; what is left is asked for every time.
    let help = world.run(&["--help"]).code(0).out;
    let shown = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let named = shown.flat_map(|line| flags(line.split([' ', ',']).find(|word| word.starts_with("--")).unwrap_or("")));
    // (`--no-history` is `history = false`.)
    let own = ["--candidates", "--tests", "--unprotected", "--no-history", "--help", "--version"];
    for flag in named.filter(|flag| !own.contains(&flag.as_str())) {
        world.config(&format!("{} = []\n", flag.trim_start_matches('-').replace('-', "_")));
        let done = world.run(&["models"]);
        assert!(!done.err.contains("there is no setting"), "{flag}: {}", done.err);
    }
}

/// Each setting is documented, and each that is documented is one: the page is what the program prints.
#[test]
fn the_page_of_the_settings_is_that_of_the_program() {
    let page = fs::read_to_string(repository("docs/settings.md")).unwrap();
    let all = World::new().run(&["config", "--default"]).code(0).out;
    let own = all.split("\n# Keys of the screen").next().unwrap();
    let block = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(block, own, "docs/settings.md has other settings: put in what `bass-tui config --default` prints");
    // Settings that other documents name in text.
    let settings: Vec<String> =
        own.lines().filter_map(|line| Some(line.strip_prefix('#')?.split_once(" = ")?.0.to_owned())).collect();
    let models = fs::read_to_string(repository("docs/models.md")).unwrap();
    let rows = models.split("| setting | what it does |").nth(1).unwrap().lines().skip(2);
    for row in rows.take_while(|row| row.starts_with('|')) {
        let name = row.split('`').nth(1).unwrap();
        assert!(settings.iter().any(|setting| setting == name), "docs/models.md has a setting `{name}`");
    }
}

#[test]
fn the_entry_described_in_the_catalog_is_one() {
    let world = World::new();
    let text = fs::read_to_string(repository("models.toml")).unwrap();
    let entry: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#   ")).collect();
    let folder = world.surroundings()[0].1.clone();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("models.toml"), entry.join("\n")).unwrap();
    assert!(world.run(&["models"]).code(0).out.contains("mine"));
}

/// The map of the rooms: its size, the rooms of `src/`, who imports whom, and the paths that it names.
#[test]
fn the_map_of_the_rooms_is_true() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(top.join("docs/architecture.md")).unwrap();
    assert!(map.lines().count() <= 130 && map.lines().all(|line| line.chars().count() <= 110));
    let part = |title: &str| map.split(&format!("\n## {title}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let rooms = part("Rooms").split("src/\n").nth(1).unwrap().lines().take_while(|line| line.starts_with("  "));
    let rooms = rooms.filter_map(|line| line[2..].split("  ").next()).flat_map(str::split_whitespace);
    let entries = fs::read_dir(top.join("src")).unwrap().map(|entry| entry.unwrap().path());
    let there: BTreeSet<String> = entries
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned() + if path.is_dir() { "/" } else { "" })
        .collect();
    assert_eq!(rooms.map(str::to_owned).collect::<BTreeSet<_>>(), there);
    for path in part("What a change touches").split('`').skip(1).step_by(2).filter(|path| path.contains('/')) {
        assert!(top.join("src").join(path).exists() || top.join(path).exists(), "{path}");
    }
    let leaves: Vec<&str> = part("Arrows").split("```").next().unwrap().split('`').skip(1).step_by(2).collect();
    for (room, known) in part("Arrows").lines().filter_map(|line| line.split_once(" ->")) {
        let (room, known) = (room.trim(), known.split_whitespace().chain(leaves.iter().copied()).collect::<Vec<_>>());
        let mut paths = vec![top.join("src").join(room), top.join(format!("src/{room}.rs"))];
        while let Some(path) = paths.pop() {
            if path.is_dir() {
                paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
            for other in text.split("crate::").skip(1).filter(|_| !path.iter().any(|part| part == "tests")) {
                let other = other.split(|c: char| !c.is_ascii_lowercase()).next().unwrap();
                let is_known = other == room || known.contains(&other) || known[0] == "all" || other.is_empty();
                assert!(is_known || path.ends_with("tests.rs"), "{} imports {other}", path.display());
            }
        }
    }
}
