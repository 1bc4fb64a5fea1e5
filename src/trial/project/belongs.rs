//! Whether tests need their project: they, or the program, use modules of it, or settings stand beside them. Tests that need nothing but
//! the candidate run alone with it, which is quicker and better guarded.

use std::path::{Component, Path};

use super::Project;
use crate::language::Language;

/// Whether the tests file has to be run in the project. `program` and `tests` are the texts of the two files.
pub fn needs_project(project: &Project, language: Language, program: &str, tests: &str) -> bool {
    let Some(path) = &project.tests else { return true };
    match language {
        Language::Python => {
            has_conftest(project, path)
                || [(program, &project.file), (tests, path)]
                    .iter()
                    .any(|(text, from)| python_imports(text).any(|name| is_of_project(project, from, name)))
        }
        Language::JavaScript | Language::TypeScript => [(program, &project.file), (tests, path)]
            .iter()
            .any(|(text, from)| javascript_imports(text).any(|name| is_needed_by_node(project, from, name))),
        // Tests in a crate or a module are compiled with it.
        Language::Rust => has_above(project, "Cargo.toml"),
        Language::Go => has_above(project, "go.mod"),
    }
}

fn has_above(project: &Project, name: &str) -> bool {
    project.file.ancestors().skip(1).any(|folder| project.root.join(folder).join(name).is_file())
}

/// Pytest's own settings in code, beside the tests or above them.
fn has_conftest(project: &Project, tests: &Path) -> bool {
    tests.ancestors().skip(1).any(|folder| project.root.join(folder).join("conftest.py").is_file())
}

/// The modules that lines of Python import, with the dots of relative ones.
fn python_imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let line = line.trim_start();
        let from = line.strip_prefix("from ").and_then(|rest| rest.split_whitespace().next());
        let plain = line.strip_prefix("import ").unwrap_or_default();
        let plain = plain.split(',').filter_map(|part| part.split_whitespace().next());
        from.into_iter().chain(plain)
    })
}

/// Whether a module lies in the project and is not the candidate's own file.
fn is_of_project(project: &Project, from: &Path, name: &str) -> bool {
    if name.starts_with('.') {
        let own = name.trim_start_matches('.');
        return own != project.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    }
    let path: std::path::PathBuf = name.split('.').collect();
    let beside = from.parent().unwrap_or(Path::new(""));
    let package = project.package.as_path();
    [Path::new(""), beside, package, &package.join("src"), Path::new("src")].iter().any(|folder| {
        let at = folder.join(&path);
        let file = at.with_extension("py");
        let is_there = project.root.join(&file).is_file() || project.root.join(&at).is_dir();
        is_there && file != project.file
    })
}

/// What lines of JavaScript import or require.
fn javascript_imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let start = ["require(", "from ", "import "].iter().find_map(|word| {
            let rest = line[line.find(word)? + word.len()..].trim_start();
            rest.strip_prefix(['"', '\''])
        })?;
        start.split(['"', '\'']).next()
    })
}

/// Whether a specifier names a file of the project that is not the candidate's, or an installed package.
fn is_needed_by_node(project: &Project, from: &Path, name: &str) -> bool {
    if !name.starts_with('.') {
        let folders = from.ancestors().skip(1);
        return folders.map(|f| project.root.join(f).join("node_modules").join(name)).any(|path| path.exists());
    }
    let mut path = from.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path.with_extension("") != project.file.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_need_their_project_when_they_use_more_than_the_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("tests")).unwrap();
        std::fs::create_dir_all(root.join("pkg")).unwrap();
        for path in ["pkg/a.py", "pkg/b.py", "tests/test_a.py", "helpers.py"] {
            std::fs::write(root.join(path), "").unwrap();
        }
        let project = Project {
            root: root.to_path_buf(),
            package: "".into(),
            file: "pkg/a.py".into(),
            tests: Some("tests/test_a.py".into()),
        };
        let needs = |program, tests| needs_project(&project, Language::Python, program, tests);
        assert!(!needs("import math\n", "from pkg.a import f\nimport os, re\nassert f(1)\n"));
        assert!(needs("", "from pkg.b import g\n") && needs("", "import helpers\n") && needs("from . import b\n", ""));
        assert!(needs("    from .b import g\n", "") && needs("", "import os, helpers as h\n"));
        std::fs::write(root.join("conftest.py"), "").unwrap();
        assert!(needs("", ""));
        let node = Project { file: "src/a.js".into(), tests: Some("test/a.test.js".into()), ..project };
        let needs = |program, tests| needs_project(&node, Language::JavaScript, program, tests);
        assert!(!needs("", "import { f } from '../src/a.js';\nconst fs = require('node:fs');\n"));
        assert!(needs("", "const b = require(\"../src/b\");\n") && needs("import x from './b.js'", ""));
    }
}
