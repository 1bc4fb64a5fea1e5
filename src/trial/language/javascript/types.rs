//! Removal of TypeScript's types if the runner of the tests does not do it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::trial::project::settings::MOCHA;

/// Packages that make node read TypeScript, and their node options: in a package of `CommonJS`, and in one of
/// ES modules.
const LOADERS: &[(&str, [&str; 2], [&str; 2])] = &[
    ("tsx", ["--import", "tsx"], ["--import", "tsx"]),
    ("@swc-node/register", ["--require", "@swc-node/register"], ["--import", "@swc-node/register/esm-register"]),
    ("ts-node", ["--require", "ts-node/register"], ["--loader", "ts-node/esm"]),
    ("esbuild-register", ["--require", "esbuild-register"], ["--loader", "esbuild-register/loader"]),
];

/// Options of node that load code before the tests.
const LOADING: &[&str] = &["--import", "--require", "-r", "--loader", "--experimental-loader"];

/// The options for the first such package that is installed.
pub fn loader(is_module: bool, installed: impl Fn(&str) -> bool) -> Option<&'static [&'static str; 2]> {
    let (_, common, module) = LOADERS.iter().find(|(name, ..)| installed(name))?;
    Some(if is_module { module } else { common })
}

/// The option that has a node of this version remove types itself. Without a project there may be more than
/// types to remove, such as an enum.
pub fn option_of_node(version: (u32, u32), is_lone: bool) -> Option<&'static str> {
    match version {
        (22, 13..) | (23..=24, _) if is_lone => Some("--experimental-transform-types"),
        (22, 13..18) => Some("--experimental-strip-types"),
        _ => None,
    }
}

/// Returns true if these options of node load code that removes types. A file of the project's counts.
pub fn are_read_with(options: &[String]) -> bool {
    let does = |value: &str| value.starts_with(['.', '/']) || LOADERS.iter().any(|(name, ..)| value.starts_with(name));
    options.windows(2).any(|pair| LOADING.contains(&pair[0].as_str()) && does(&pair[1]))
}

/// Returns true if types are removed from required modules only.
pub fn are_read_by_require(options: &[String]) -> bool {
    let imports = ["--import", "--loader", "--experimental-loader"];
    are_read_with(options) && !options.iter().any(|option| imports.contains(&option.as_str()))
}

/// Returns true if the settings of mocha in a folder name a package that removes types.
pub fn are_read_by_mocha(folder: &Path) -> bool {
    let texts = MOCHA.iter().chain(&["package.json"]).filter_map(|name| fs::read_to_string(folder.join(name)).ok());
    texts.into_iter().any(|text| {
        // A dependency is followed by a colon, and is not used by being listed.
        let uses = |name: &str| text.match_indices(name).any(|(at, _)| !text[at + name.len()..].starts_with("\":"));
        LOADERS.iter().any(|(name, ..)| uses(name))
    })
}

/// The reason if ts-jest does not know the TypeScript that is installed around a folder of the project.
pub fn unknown_to_ts_jest(root: &Path, folder: &Path) -> Option<String> {
    let manifest = |package: &str| -> Option<Value> {
        let paths = folder.ancestors().map(|folder| root.join(folder).join("node_modules").join(package));
        paths
            .into_iter()
            .find_map(|path| serde_json::from_str(&fs::read_to_string(path.join("package.json")).ok()?).ok())
    };
    let (typescript, jest) = (manifest("typescript")?, manifest("ts-jest")?);
    let (version, asked) = (typescript["version"].as_str()?, jest["peerDependencies"]["typescript"].as_str()?);
    let major = |text: &str| text.trim().split('.').next()?.parse::<u32>().ok();
    let next = major(asked.split_once('<')?.1)?;
    (major(version)? >= next).then(|| {
        let command = format!("npm install --save-dev typescript@{}", next.saturating_sub(1));
        format!("TypeScript {version} is installed, and ts-jest asks for {asked}: run `{command}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typescript_that_ts_jest_does_not_know_is_named() {
        let root = tempfile::tempdir().unwrap();
        let jest = ("node_modules/ts-jest/package.json", "{\"peerDependencies\":{\"typescript\":\">=4.3 <6\"}}");
        crate::files::write_all(root.path(), [jest]);
        let said = |version: &str| {
            let own = format!("{{\"version\":{version:?}}}");
            crate::files::write_all(root.path(), [("packages/a/node_modules/typescript/package.json", own.as_str())]);
            unknown_to_ts_jest(root.path(), Path::new("packages/a"))
        };
        assert_eq!(said("5.9.3"), None);
        let expected =
            "TypeScript 6.0.1 is installed, and ts-jest asks for >=4.3 <6: run `npm install --save-dev typescript@5`";
        assert_eq!(said("6.0.1").as_deref(), Some(expected));
    }

    #[test]
    fn what_is_installed_is_taken_as_the_package_needs_it() {
        assert_eq!(loader(true, |name| name == "ts-node"), Some(&["--loader", "ts-node/esm"]));
        assert_eq!(loader(false, |name| name == "ts-node"), Some(&["--require", "ts-node/register"]));
        assert_eq!(loader(false, |_| false), None);
    }

    #[test]
    fn options_and_settings_that_load_it_are_known() {
        let options = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(are_read_with(&options("--enable-source-maps --loader ts-node/esm")));
        assert!(are_read_with(&options("-r ./register.js")) && !are_read_with(&options("-r dotenv/config")));
        assert!(are_read_by_require(&options("-r ts-node/register")));
        assert!(
            !are_read_by_require(&options("-r ./a.js --import tsx")) && !are_read_by_require(&options("-r dotenv"))
        );
        let folder = tempfile::tempdir().unwrap();
        let settings = |text: &str| {
            fs::write(folder.path().join("package.json"), text).unwrap();
            are_read_by_mocha(folder.path())
        };
        assert!(!settings("{\"devDependencies\":{\"ts-node\":\"1\"}}"));
        assert!(settings("{\"devDependencies\":{\"ts-node\":\"1\"},\"mocha\":{\"require\":[\"ts-node/register\"]}}"));
    }
}
