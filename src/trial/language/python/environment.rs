//! Selects the Python of a project: the one of an environment, before the one in PATH.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::trial::project::is_environment;

/// Folders below the home folder in which tools keep the environments of all projects. The number is the
/// depth of an environment in it.
const STORES: &[(&str, usize, &str)] = &[
    (".cache/pypoetry/virtualenvs", 1, "poetry's environment of the project"),
    ("Library/Caches/pypoetry/virtualenvs", 1, "poetry's environment of the project"),
    (".local/share/virtualenvs", 1, "pipenv's environment of the project"),
    (".virtualenvs", 1, "the environment of the project in ~/.virtualenvs"),
    (".local/share/hatch/env/virtual", 3, "hatch's environment of the project"),
];

/// Candidate interpreters for the code of a project, best first, each with a description. The project is
/// given by its package's folder and its root.
pub fn interpreters(project: Option<(&Path, &Path)>) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut add = |folder: &Path, what: &str| {
        let program = folder.join("bin/python");
        if program.is_file() {
            found.push((program, what.to_owned()));
        }
    };
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("VIRTUAL_ENV") {
        add(&folder, "the activated environment");
    }
    // The base environment of conda is active wherever conda is installed.
    if let Some(folder) = variable("CONDA_PREFIX").filter(|_| variable("CONDA_DEFAULT_ENV") != Some("base".into())) {
        add(&folder, "the activated environment");
    }
    let Some((package, root)) = project else { return found };
    for folder in package.ancestors().take_while(|folder| folder.starts_with(root)) {
        if let Some(name) = variable("UV_PROJECT_ENVIRONMENT") {
            add(&folder.join(name), "uv's environment of the project");
        }
        for environment in environments(folder) {
            add(&environment, "the project's environment");
        }
        for tool in [".tox", ".nox"] {
            let what = format!("the project's environment in {tool}");
            // Other environments are for linters or documentation builds.
            let is_for_tests = |path: &&PathBuf| {
                let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
                name.starts_with("py") || name.starts_with("test")
            };
            for environment in environments(&folder.join(tool)).iter().rev().filter(is_for_tests) {
                add(environment, &what);
            }
        }
    }
    if let Some(home) = env::home_dir() {
        for (store, depth, what) in STORES {
            let mut folders = vec![home.join(store)];
            for _ in 0..*depth {
                folders = folders.iter().flat_map(|folder| inside(folder)).collect();
            }
            for environment in folders.iter().filter(|folder| belongs_to(folder, root)) {
                add(environment, what);
            }
        }
    }
    if let Some(program) = fs::read_to_string(root.join(".pdm-python")).ok().map(|text| PathBuf::from(text.trim()))
        && program.is_absolute()
        && program.is_file()
    {
        found.push((program, "the interpreter that pdm chose".to_owned()));
    }
    found
}

/// The environments in a folder, those with the usual names first.
fn environments(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = inside(folder).into_iter().filter(|folder| is_environment(folder)).collect();
    let usual = [".venv", "venv", "env", ".env"];
    let rank = |path: &PathBuf| usual.iter().position(|name| path.file_name() == Some(OsStr::new(name)));
    found.sort_by_key(|path| (rank(path).unwrap_or(usual.len()), path.clone()));
    found
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Returns true if an environment elsewhere belongs to this project: a file of the tool says so, or the
/// project is installed in it in editable mode.
fn belongs_to(environment: &Path, root: &Path) -> bool {
    let names = |text: String| text.lines().any(|line| Path::new(line.trim()).starts_with(root));
    let read = |path: PathBuf| {
        fs::metadata(&path).is_ok_and(|meta| meta.len() < 1 << 16).then(|| fs::read_to_string(&path).ok())
    };
    if read(environment.join(".project")).flatten().is_some_and(names) {
        return true;
    }
    let packages = inside(&environment.join("lib")).into_iter().map(|folder| folder.join("site-packages"));
    let mut links =
        packages.flat_map(|folder| inside(&folder)).filter(|path| path.extension() == Some(OsStr::new("pth")));
    links.any(|path| read(path).flatten().is_some_and(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_environment_with_a_usual_name_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["tools", ".venv", "pkg/env", ".tox/py311", ".tox/py312", ".tox/typing"] {
            crate::files::write_all(&root.join(name), [("pyvenv.cfg", ""), ("bin/python", "")]);
        }
        crate::files::write_all(root, [("data/bin/python", "")]);
        let found = interpreters(Some((&root.join("pkg"), root)));
        let own: Vec<&Path> = found.iter().filter_map(|(path, _)| path.strip_prefix(root).ok()).collect();
        let expected = ["pkg/env", ".venv", "tools", ".tox/py312", ".tox/py311"]
            .map(|folder| Path::new(folder).join("bin/python"));
        assert_eq!(own, expected);
    }

    #[test]
    fn an_environment_elsewhere_belongs_to_the_project_that_is_installed_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("lib/python3.12/site-packages");
        fs::create_dir_all(&packages).unwrap();
        let root = Path::new("/home/someone/project");
        assert!(!belongs_to(folder.path(), root));
        fs::write(packages.join("other.pth"), "/home/someone/project2/src\n").unwrap();
        assert!(!belongs_to(folder.path(), root));
        fs::write(packages.join("project.pth"), "/home/someone/project/src\n").unwrap();
        assert!(belongs_to(folder.path(), root));
        fs::write(folder.path().join(".project"), "/home/someone/third\n").unwrap();
        assert!(belongs_to(folder.path(), Path::new("/home/someone/third")));
    }
}
