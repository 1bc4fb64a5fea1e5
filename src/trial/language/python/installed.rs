//! Installation data of a Python project: its version, its entry points, and the file in which its build
//! notes the version. A project that was only cloned has none of them, and code that asks for its own version
//! cannot be loaded. The data is put into copies, never into the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use crate::files;
use crate::trial::language::row::Copy;

/// The version of a project that does not state it. Builds take it from the history, which is not copied.
const UNKNOWN: &str = "0.0.0";

/// A project as installers record it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// Normalised name: lower case with dashes.
    name: String,
    version: String,
    /// Entry points by group: `name = module:function` for each.
    entry_points: BTreeMap<String, Vec<String>>,
    /// The file to which the build writes the version, relative to the folder of the package.
    #[serde(skip)]
    version_file: Option<PathBuf>,
}

impl Distribution {
    /// The distribution of the package in a folder, if its settings state one.
    pub fn of(folder: &Path) -> Option<Self> {
        let text = |name: &str| files::text(&folder.join(name), files::TEXT).ok();
        let settings: Table = text("pyproject.toml").and_then(|text| text.parse().ok()).unwrap_or_default();
        let old = text("setup.cfg").map(|text| section(&text, "metadata")).unwrap_or_default();
        let program = text("setup.py").unwrap_or_default();
        let said = |key: &str| {
            let new =
                ["project", "tool.poetry"].iter().find_map(|part| at(&settings, &format!("{part}.{key}"))?.as_str());
            let new = new.or_else(|| at(&settings, &format!("tool.flit.metadata.{key}"))?.as_str());
            let value = new.or(old.get(key).map(String::as_str)).or_else(|| argument(&program, key));
            // `attr: module.NAME` and `file: NAME` refer to another place.
            value.filter(|value| !value.contains(": ") && !value.contains('\n')).map(str::to_owned)
        };
        let module = at(&settings, "tool.flit.metadata.module").and_then(Value::as_str);
        let name = said("name").or(module.map(str::to_owned)).filter(|name| is_name(name))?;
        let written = |key: &str| at(&settings, key).and_then(Value::as_str).map(PathBuf::from);
        let scm = ["version_file", "write_to"].map(|key| format!("tool.setuptools_scm.{key}"));
        let hatch = ["", "targets.wheel."].map(|of| format!("tool.hatch.build.{of}hooks.vcs.version-file"));
        let version_file = scm.iter().chain(&hatch).find_map(|key| written(key)).or_else(|| {
            // Relative to the folder with the modules.
            let path = written("tool.pdm.version.write_to")?;
            Some(if folder.join("src").is_dir() { Path::new("src").join(path) } else { path })
        });
        let version = said("version").filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        let in_code = || {
            let named = written("tool.hatch.version.path").into_iter();
            let module = name.replace(['-', '.'], "_").to_lowercase();
            let files = ["__init__", "__about__", "__version__", "_version", "version"];
            let usual = ["src", ""].iter().flat_map(|top| files.map(|file| Path::new(top).join(&module).join(file)));
            let mut paths = named.chain(usual.map(|path| path.with_extension("py")));
            paths.find_map(|path| assigned(&text(path.to_str()?)?))
        };
        let version = version.or_else(in_code).unwrap_or_else(|| UNKNOWN.to_owned());
        let name = name.to_lowercase().replace(['_', '.'], "-");
        Some(Self { name, version, entry_points: entry_points(&settings), version_file })
    }

    /// Writes the file with the version into a copy, where the project has none.
    pub fn write_version(&self, copy: &Copy, package: &Path) {
        let Some(file) = self.version_file.as_ref().map(|file| package.join(file)) else { return };
        if !copy.path().join(&file).exists() {
            // If the file cannot be written, the error on loading the code says so.
            let _ = copy.put(&file, &self.version_text());
        }
    }

    /// The text that common build tools write.
    fn version_text(&self) -> String {
        let numbers: Vec<&str> = self.version.split('.').take_while(|part| part.parse::<u32>().is_ok()).collect();
        format!(
            "__version__ = version = '{}'\n__version_tuple__ = version_tuple = ({},)\n__commit_id__ = commit_id = None\n",
            self.version,
            numbers.join(", ")
        )
    }
}

/// The value at a path with dots.
fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = table.get(first)?;
    rest.map_or(Some(value), |rest| at(value.as_table()?, rest))
}

/// The keys of a section of a `setup.cfg` that stand on one line.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let lines = text.lines().skip_while(|line| line.trim() != format!("[{name}]")).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let pairs = lines.filter(|line| !line.starts_with([' ', '\t', '#'])).filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// The string passed to `setup.py`'s call as `key`.
fn argument<'t>(program: &'t str, key: &str) -> Option<&'t str> {
    let (_, call) = program.split_once("setup(")?;
    call.match_indices(key).find_map(|(at, _)| {
        let is_whole = call[..at].ends_with(|c: char| c.is_whitespace() || "(,".contains(c));
        is_whole.then(|| quoted(call[at + key.len()..].trim_start().strip_prefix('=')?.trim_start())).flatten()
    })
}

/// The version assigned in a module.
fn assigned(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (names, value) = line.split_once(['=', ':'])?;
        let value = value.rsplit('=').next()?.trim();
        let value = quoted(value).filter(|value| value.starts_with(|c: char| c.is_ascii_digit()))?;
        matches!(names.trim(), "__version__" | "version" | "VERSION").then(|| value.to_owned())
    })
}

/// The string literal at the beginning of a text.
fn quoted(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split(mark).next().filter(|value| !value.is_empty())
}

/// Returns true if the text can be part of a file name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn entry_points(settings: &Table) -> BTreeMap<String, Vec<String>> {
    let mut groups = BTreeMap::new();
    let mut add = |group: &str, points: &Value| {
        let points = points.as_table().into_iter().flatten();
        let lines = points.filter_map(|(name, target)| Some(format!("{name} = {}", target.as_str()?)));
        groups.insert(group.to_owned(), lines.collect());
    };
    for path in ["project.scripts", "tool.poetry.scripts", "tool.flit.scripts"] {
        if let Some(points) = at(settings, path) {
            add("console_scripts", points);
        }
    }
    for path in ["project.entry-points", "tool.poetry.plugins", "tool.flit.entrypoints"] {
        for (group, points) in at(settings, path).and_then(Value::as_table).into_iter().flatten() {
            add(group, points);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files, and the expected name and version.
    type Case<'a> = (&'a [(&'a str, &'a str)], Option<(&'a str, &'a str)>);

    fn of(files: &[(&str, &str)]) -> Option<Distribution> {
        let folder = tempfile::tempdir().unwrap();
        files::write_all(folder.path(), files.iter().copied());
        Distribution::of(folder.path())
    }

    #[test]
    fn names_and_versions_stand_in_many_places() {
        let new = "[project]\nname = 'My_Tool.x'\nversion = '1.2'\n";
        let flit = ("pyproject.toml", "[tool.flit.metadata]\nmodule = 'a'\n");
        let dynamic = ("pyproject.toml", "[project]\nname = 'e'\ndynamic = ['version']\n");
        let hatch = ("pyproject.toml", "[project]\nname = 'e'\n[tool.hatch.version]\npath = 'x/y.py'\n");
        let setup = "from setuptools import setup\nsetup(\n    long_name='x', name='d', version=\"1.0\")\n";
        let cases: &[Case] = &[
            (&[("pyproject.toml", new)], Some(("my-tool-x", "1.2"))),
            (&[("pyproject.toml", "[tool.poetry]\nname = 'a'\nversion = '3'\n")], Some(("a", "3"))),
            (&[flit, ("a/__init__.py", "__version__ = \"4\"\n")], Some(("a", "4"))),
            (&[("setup.cfg", "[metadata]\nname = b\nversion = attr: b.V\n[x]\nname = c\n")], Some(("b", UNKNOWN))),
            (&[("setup.py", setup)], Some(("d", "1.0"))),
            (&[dynamic, ("src/e/__about__.py", "__version__: str = '2.5'\n")], Some(("e", "2.5"))),
            (&[hatch, ("x/y.py", "VERSION = '2.6'\n")], Some(("e", "2.6"))),
            (&[("pyproject.toml", "[project]\nname = '../e'\n")], None),
            (&[("pyproject.toml", "[tool.black]\n")], None),
            (&[("pyproject.toml", "[project\n"), ("setup.py", "name = 'a'\n")], None),
        ];
        for (files, expected) in cases {
            let found = of(files).map(|found| (found.name, found.version));
            assert_eq!(found, expected.map(|(name, version)| (name.to_owned(), version.to_owned())), "{files:?}");
        }
    }

    #[test]
    fn what_the_build_writes_is_known() {
        let text = "[project]\nname = 'a'\n[project.scripts]\na = 'a:main'\n[project.entry-points.pytest11]\na = 'a.p'\n\
            [tool.setuptools_scm]\nversion_file = 'a/_v.py'\n";
        let found = of(&[("pyproject.toml", text)]).unwrap();
        let groups = [("console_scripts", "a = a:main"), ("pytest11", "a = a.p")];
        assert_eq!(found.entry_points, groups.map(|(group, line)| (group.to_owned(), vec![line.to_owned()])).into());
        assert_eq!(found.version_file, Some("a/_v.py".into()));
        assert!(found.version_text().contains("version = '0.0.0'\n__version_tuple__ = version_tuple = (0, 0, 0,)\n"));
        let text = "[project]\nname = 'a'\n[tool.pdm.version]\nwrite_to = 'a/v.py'\n";
        let found = of(&[("pyproject.toml", text), ("src/a/__init__.py", "")]).unwrap();
        assert_eq!(found.version_file, Some("src/a/v.py".into()));
    }
}
