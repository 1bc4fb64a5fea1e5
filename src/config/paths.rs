//! Where files live.

use std::ffi::OsString;
use std::path::PathBuf;

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
        let place = |own: &str, xdg: &str, platform: Option<PathBuf>| {
            let own = variable(own).filter(|v| !v.is_empty());
            let own = own.map(|v| std::path::absolute(&v).unwrap_or_else(|_| v.into()));
            // The specification has relative paths in these variables ignored.
            let xdg = || variable(xdg).map(PathBuf::from).filter(|p| p.is_absolute()).map(|p| p.join(NAME));
            own.or_else(xdg).or(platform).ok_or(ConfigError::NoHome)
        };
        let platform = platform.map(|p| (p.config_dir, p.state_dir, p.cache_dir));
        let (config, state, cache) = platform.map_or((None, None, None), |(a, b, c)| (Some(a), Some(b), Some(c)));
        Ok(Self {
            config_dir: place("BASS_TUI_CONFIG_DIR", "XDG_CONFIG_HOME", config)?,
            state_dir: place("BASS_TUI_STATE_DIR", "XDG_STATE_HOME", state)?,
            cache_dir: place("BASS_TUI_CACHE_DIR", "XDG_CACHE_HOME", cache)?,
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

    /// Copies of files as they were before a candidate was written into them.
    pub fn backups_dir(&self) -> PathBuf {
        self.state_dir.join("backups")
    }

    /// Runs that are kept.
    pub fn runs_dir(&self) -> PathBuf {
        self.state_dir.join("runs")
    }

    /// Candidates that could not be written into their file.
    pub fn patches_dir(&self) -> PathBuf {
        self.state_dir.join("patches")
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
}
