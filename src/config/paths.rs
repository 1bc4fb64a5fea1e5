//! Where files live: the one list of them. `bass-tui paths` prints it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::ConfigError;

const NAME: &str = "bass-tui";

/// The folders of the program. They need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_field_names)] // `dirs.config_dir`: each is a folder
pub struct Paths {
    /// Settings, the user's catalog and themes.
    pub config_dir: PathBuf,
    /// Kept runs, patches, and copies of files that were changed.
    pub state_dir: PathBuf,
    /// Data that can be made again: measured costs, compiled kernels.
    pub cache_dir: PathBuf,
}

impl Paths {
    /// Each folder from its own variable (`BASS_TUI_CONFIG_DIR`, `BASS_TUI_STATE_DIR`, `BASS_TUI_CACHE_DIR`),
    /// else under the `XDG` one on every Unix, else where the platform keeps such files.
    pub fn find() -> Result<Self, ConfigError> {
        let platform = ProjectDirs::from("", "", NAME).map(|dirs| Self {
            config_dir: dirs.config_dir().to_path_buf(),
            state_dir: dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_path_buf(),
            cache_dir: dirs.cache_dir().to_path_buf(),
        });
        Self::find_in(&|name| std::env::var_os(name), platform)
    }

    fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, platform: Option<Self>) -> Result<Self, ConfigError> {
        let place = |variables: &[&str], platform: Option<PathBuf>| {
            let own = variable(variables[0]).filter(|v| !v.is_empty());
            let own = own.map(|v| std::path::absolute(&v).unwrap_or_else(|_| v.into()));
            // The specification has relative paths in these variables ignored.
            let xdg = || variable(variables[1]).map(PathBuf::from).filter(|p| p.is_absolute()).map(|p| p.join(NAME));
            own.or_else(xdg).or(platform).ok_or(ConfigError::NoHome)
        };
        let platform = platform.map(|p| (p.config_dir, p.state_dir, p.cache_dir));
        let (config, state, cache) = platform.map_or((None, None, None), |(a, b, c)| (Some(a), Some(b), Some(c)));
        Ok(Self {
            config_dir: place(CONFIG, config)?,
            state_dir: place(STATE, state)?,
            cache_dir: place(CACHE, cache)?,
        })
    }

    /// The settings.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The user's own catalog of models.
    pub fn models_file(&self) -> PathBuf {
        self.config_dir.join("models.toml")
    }

    /// The user's own themes.
    pub fn themes_dir(&self) -> PathBuf {
        self.config_dir.join("themes")
    }

    /// Keys of servers by address.
    pub fn keys_file(&self) -> PathBuf {
        self.config_dir.join("server-keys.toml")
    }

    /// Copies of files as they were before a candidate was written into them.
    pub fn backups_dir(&self) -> PathBuf {
        self.state_dir.join("backups")
    }

    /// Runs that are kept.
    pub fn runs_dir(&self) -> PathBuf {
        self.state_dir.join("runs")
    }

    /// Layout, wrap and theme of the screen, as they were last.
    pub fn screen_file(&self) -> PathBuf {
        self.state_dir.join("screen.toml")
    }

    /// Candidates that could not be written into their file.
    pub fn patches_dir(&self) -> PathBuf {
        self.state_dir.join("patches")
    }

    /// Measurements of model pairs.
    pub fn profiles_dir(&self) -> PathBuf {
        self.cache_dir.join("profiles")
    }

    /// Quantised weights.
    pub fn weights_dir(&self) -> PathBuf {
        self.cache_dir.join("weights")
    }

    /// Compiled kernels. The backend puts them beside the weights.
    pub fn kernels_dir(&self) -> PathBuf {
        self.weights_dir().with_file_name("kernels")
    }

    /// Builds of projects.
    pub fn builds_dir(&self) -> PathBuf {
        self.cache_dir.join("builds")
    }

    /// Results of tests without a candidate. The runner of tests puts them among its builds.
    pub fn baselines_dir(&self) -> PathBuf {
        self.builds_dir().join("baselines")
    }

    /// All files and folders of the program, with what they hold.
    pub fn places(&self) -> Vec<Place> {
        let own = |path: PathBuf, what, is_folder, moved_by: &'static [&str]| Place {
            path,
            what,
            is_folder,
            moved_by: moved_by.to_vec(),
        };
        let config = |path, what, is_folder| own(path, what, is_folder, CONFIG);
        let state = |path, what| own(path, what, true, STATE);
        let cache = |path, what| own(path, what, true, CACHE);
        vec![
            config(self.config_file(), "settings", false),
            config(self.models_file(), "names of models of your own", false),
            config(self.keys_file(), "keys of servers (mode 600)", false),
            config(self.themes_dir(), "themes of your own", true),
            state(self.backups_dir(), "files as they were before a candidate, for undo"),
            state(self.patches_dir(), "candidates that could not be written"),
            state(self.runs_dir(), "runs, for `bass-tui history`"),
            own(self.screen_file(), "layout, wrap and theme of the screen", false, STATE),
            cache(self.profiles_dir(), "measured costs of models"),
            cache(self.weights_dir(), "quantised weights"),
            cache(self.kernels_dir(), "kernels compiled for a GPU"),
            cache(self.builds_dir(), "builds of projects, removed after a month"),
            cache(self.baselines_dir(), "results of tests without a candidate"),
        ]
    }
}

/// Variables that move the folders, the strongest first.
const CONFIG: &[&str] = &["BASS_TUI_CONFIG_DIR", "XDG_CONFIG_HOME"];
const STATE: &[&str] = &["BASS_TUI_STATE_DIR", "XDG_STATE_HOME"];
const CACHE: &[&str] = &["BASS_TUI_CACHE_DIR", "XDG_CACHE_HOME"];

/// A file or folder that the program reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its path. It need not exist.
    pub path: PathBuf,
    /// Its content, in words.
    pub what: &'static str,
    /// It is a folder.
    pub is_folder: bool,
    /// Variables that move it, the strongest first.
    pub moved_by: Vec<&'static str>,
}

impl Place {
    /// A folder of another program that is read.
    pub fn folder(path: &Path, what: &'static str, moved_by: &[&'static str]) -> Self {
        Self { path: path.to_path_buf(), what, is_folder: true, moved_by: moved_by.to_vec() }
    }

    /// A file of another program that is read.
    pub fn file(path: &Path, what: &'static str, moved_by: &[&'static str]) -> Self {
        Self { is_folder: false, ..Self::folder(path, what, moved_by) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_variables_before_xdg_before_the_platform() {
        let variable = |name: &str| {
            let value = match name {
                "BASS_TUI_CONFIG_DIR" => "/own",
                "XDG_CONFIG_HOME" | "XDG_STATE_HOME" => "/xdg",
                "XDG_CACHE_HOME" => "relative",
                _ => return None,
            };
            Some(OsString::from(value))
        };
        let home = |name: &str| PathBuf::from("/home").join(name);
        let platform = Paths { config_dir: home("config"), state_dir: home("state"), cache_dir: home("cache") };
        let found = Paths::find_in(&variable, Some(platform));
        let expected =
            Paths { config_dir: "/own".into(), state_dir: "/xdg/bass-tui".into(), cache_dir: "/home/cache".into() };
        assert_eq!(found.unwrap(), expected);
        assert!(matches!(Paths::find_in(&variable, None), Err(ConfigError::NoHome)));
    }

    #[test]
    fn each_place_is_moved_by_its_variables() {
        let platform = Paths { config_dir: "/a/c".into(), state_dir: "/a/s".into(), cache_dir: "/a/k".into() };
        let places = platform.places();
        for place in &places {
            for (rank, moving) in place.moved_by.iter().enumerate() {
                let variable = |name: &str| (name == *moving).then(|| OsString::from("/moved"));
                let moved = Paths::find_in(&variable, Some(platform.clone())).unwrap().places();
                let top = if rank == 0 { "/moved" } else { "/moved/bass-tui" };
                let now = moved.iter().find(|other| other.what == place.what).unwrap();
                assert!(now.path.starts_with(top) && !place.path.starts_with("/moved"), "{now:?}");
                assert_eq!(now.path.file_name(), place.path.file_name());
            }
        }
        // No folder is left out.
        assert_eq!(places.len(), 13);
    }
}
