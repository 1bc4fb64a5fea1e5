//! Names of the settings files of runners.

use std::path::Path;

/// Files with pytest's settings in its order, and the section that they need for it. It reads the first one.
pub const PYTEST: &[(&str, &str)] = &[
    ("pytest.toml", ""),
    (".pytest.toml", ""),
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("pyproject.toml", "[tool.pytest"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
];
/// Its settings that are code, in any folder.
pub const CONFTEST: &str = "conftest.py";

/// Files with mocha's settings in its order.
pub const MOCHA: &[&str] = &[
    ".mocharc.cjs", ".mocharc.js", ".mocharc.mjs", ".mocharc.yaml", ".mocharc.yml", ".mocharc.jsonc", ".mocharc.json",
];
/// Beginnings of the names of jest's and vitest's.
pub const JEST: &[&str] = &["jest.config."];
pub const VITEST: &[&str] = &["vitest.config.", "vite.config.", "vitest.workspace.", "vitest.projects."];
/// Files with the settings of bun and deno.
pub const BUN: &str = "bunfig.toml";
pub const DENO: &[&str] = &["deno.json", "deno.jsonc"];

/// Manifests, and other files of cargo and go.
const MANIFESTS: &[&str] = &["package.json", "Cargo.toml", "Cargo.lock", "build.rs", "go.mod", "go.sum"];
/// The folder of cargo's settings, and their names in it.
const OF_CARGO: &str = ".cargo";
const CARGO: &[&str] = &["config.toml", "config"];

/// Returns true if the name of a file marks it as settings of the tests: they say which run, and how.
pub fn is_setting(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let begins = |heads: &[&str]| heads.iter().any(|head| name.starts_with(head));
    let is_of_cargo = || path.parent().is_some_and(|folder| folder.ends_with(OF_CARGO)) && CARGO.contains(&name);
    let is_of_python = || name == CONFTEST || PYTEST.iter().any(|(own, _)| name == *own);
    let is_whole = || [MOCHA, DENO, MANIFESTS].iter().any(|names| names.contains(&name)) || name == BUN;
    is_of_python() || is_whole() || begins(JEST) || begins(VITEST) || is_of_cargo()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_runners_are_known_by_their_names() {
        for path in [
            "a/conftest.py", ".pytest.ini", "pytest.toml", "b/tox.ini", "jest.config.ts", "vitest.workspace.ts",
            "vitest.projects.json", ".mocharc.jsonc", "deno.jsonc", "bunfig.toml", "a/.cargo/config.toml", "build.rs",
        ] {
            assert!(is_setting(Path::new(path)), "{path}");
        }
        // Programs of any kind have a file of this name, which their tests write.
        for path in ["config.toml", "tests/config.toml", "a/config", "cargo.toml", "my.jest.config.ts"] {
            assert!(!is_setting(Path::new(path)), "{path}");
        }
    }
}
