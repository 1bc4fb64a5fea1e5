//! Copying: with the machine's own tool where the session is on this machine, else through the terminal (OSC
//! 52), which works over a remote shell. The terminal does not confirm, so then the screen says "sent", not
//! "copied".

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Most base64 bytes that terminals take.
const MOST: usize = 74_994;

/// Longest that a tool may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The control sequence that asks the terminal to take `text`. tmux passes it on to the terminal around it.
pub fn sequence(text: &str, in_tmux: bool) -> Result<String, String> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MOST {
        return Err(format!(
            "the text is too long for the terminal's clipboard ({} bytes, at most {})",
            text.len(),
            MOST / 4 * 3
        ));
    }
    let plain = format!("\x1b]52;c;{encoded}\x07");
    if in_tmux {
        let inner = plain.replace('\x1b', "\x1b\x1b");
        return Ok(format!("{plain}\x1bPtmux;{inner}\x1b\\"));
    }
    Ok(plain)
}

/// A program that puts its standard input on the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    program: PathBuf,
    args: &'static [&'static str],
    /// It reads UTF-16.
    is_wide: bool,
}

impl Tool {
    /// The tools of this session, the best first; none where the user sits at another machine.
    pub fn of_session() -> Vec<Self> {
        let var = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let folders = env::var_os("PATH").unwrap_or_default();
        Self::of(var, cfg!(target_os = "macos"), |name| find(&folders, name))
    }

    fn of(var: impl Fn(&str) -> Option<String>, mac: bool, find: impl Fn(&str) -> Option<PathBuf>) -> Vec<Self> {
        let has = |name: &str| var(name).is_some();
        if has("SSH_CONNECTION") || has("SSH_TTY") {
            return Vec::new();
        }
        let (wayland, x11) = (has("WAYLAND_DISPLAY"), has("DISPLAY"));
        let wsl = has("WSL_DISTRO_NAME") || has("WSL_INTEROP");
        let rows: [(&str, &[&str], bool, bool); 5] = [
            ("clip.exe", &[], wsl, true),
            ("pbcopy", &[], mac, false),
            ("wl-copy", &[], wayland, false),
            ("xclip", &["-selection", "clipboard"], x11, false),
            ("xsel", &["--clipboard", "--input"], x11, false),
        ];
        let fitting = rows.into_iter().filter(|row| row.2);
        fitting.filter_map(|(name, args, _, is_wide)| Some(Self { program: find(name)?, args, is_wide })).collect()
    }

    /// Hands the text over. False if the tool fails or takes too long.
    fn takes(&self, text: &str) -> bool {
        let bytes = if self.is_wide {
            std::iter::once('\u{feff}')
                .chain(text.chars())
                .collect::<String>()
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect()
        } else {
            text.as_bytes().to_vec()
        };
        let command = Command::new(&self.program)
            .args(self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = command else { return false };
        // A tool that does not read must not hold up the one who writes.
        let stdin = child.stdin.take();
        let writer = thread::Builder::new()
            .name("clipboard text".into())
            .spawn(move || stdin.is_some_and(|mut stdin| stdin.write_all(&bytes).is_ok()));
        let end = Instant::now() + PATIENCE;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status.success(),
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(5)),
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break false;
                }
            }
        };
        // Its end has closed the pipe, so that the writer ends, too.
        ended && writer.is_ok_and(|writer| writer.join().unwrap_or(false))
    }
}

/// The first of the tools that takes the text; takes time.
pub fn copy(tools: &[Tool], text: &str) -> bool {
    tools.iter().any(|tool| tool.takes(text))
}

/// A program in the folders of `PATH`; never one beside the user's files.
fn find(folders: &OsString, name: &str) -> Option<PathBuf> {
    let folders = env::split_paths(folders).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_text_is_encoded_and_wrapped() {
        assert_eq!(sequence("hi", false).unwrap(), "\x1b]52;c;aGk=\x07");
        assert!(sequence("hi", true).unwrap().ends_with("\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"));
        assert!(sequence(&"x".repeat(100_000), false).unwrap_err().contains("too long"));
    }

    #[test]
    fn the_tool_fits_the_session() {
        let tools = |set: &[&str], mac| -> Vec<String> {
            let var = |name: &str| set.contains(&name).then(|| "1".to_owned());
            let all = Tool::of(var, mac, |name| (name != "xclip").then(|| PathBuf::from(name)));
            all.into_iter().map(|tool| tool.program.display().to_string()).collect()
        };
        assert_eq!(tools(&["WAYLAND_DISPLAY", "DISPLAY"], false), ["wl-copy", "xsel"]);
        assert_eq!(tools(&["DISPLAY"], false), ["xsel"], "xclip is not there");
        assert_eq!(tools(&["WSL_DISTRO_NAME"], false), ["clip.exe"]);
        assert_eq!(tools(&[], true), ["pbcopy"]);
        assert!(tools(&[], false).is_empty() && tools(&["DISPLAY", "SSH_TTY"], false).is_empty());
        assert!(tools(&["SSH_CONNECTION"], true).is_empty());
    }

    /// A script in a folder.
    fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_text_goes_through_standard_input_and_a_tool_that_fails_has_taken_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("taken");
        let tool = |program: PathBuf, is_wide| Tool { program, args: &[], is_wide };
        let good = script(folder.path(), "good", &format!("cat > '{}'", out.display()));
        let bad = script(folder.path(), "bad", "exit 1");
        let text = "ä\n".repeat(100_000);
        assert!(copy(&[tool(bad.clone(), false), tool(good.clone(), false)], &text));
        assert_eq!(fs::read_to_string(&out).unwrap(), text);
        assert!(copy(&[tool(good, true)], "é"));
        assert_eq!(fs::read(&out).unwrap(), [0xff, 0xfe, 0xe9, 0x00]);
        assert!(!copy(&[tool(bad, false), tool(folder.path().join("none"), false)], &text));
        let long = script(folder.path(), "long", "exec sleep 60");
        assert!(!copy(&[tool(long, false)], &text), "it is ended");
        let folders = OsString::from(format!(".::relative:{}", folder.path().display()));
        assert_eq!(find(&folders, "good"), Some(folder.path().join("good")));
        assert_eq!(find(&folders, "taken"), None, "no program");
    }
}
