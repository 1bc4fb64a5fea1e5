//! Colours by role, from a theme file, brought down to what the terminal can show.

use std::collections::BTreeMap;
use std::path::Path;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use crate::files;

/// The themes of the program. `auto` is `light` or `dark`.
const BUILT_IN: [(&str, &str); 2] =
    [("light", include_str!("../../themes/light.toml")), ("dark", include_str!("../../themes/dark.toml"))];

/// Purpose of a piece of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names.
    Title,
    /// Key hints.
    Hint,
    /// Border of a pane.
    Border,
    /// Border of the focused pane.
    BorderFocus,
    /// Selected items.
    Selection,
    Pass,
    Fail,
    /// Something to know.
    Warn,
    /// Something went wrong.
    Error,
    /// Something is under way.
    Working,
    /// The candidate to take.
    Pick,
    /// Less important.
    Muted,
    /// A line that a text gains.
    DiffAdd,
    /// A line that a text loses.
    DiffRemove,
    /// Code that texts have in common.
    Same,
    /// Code in which texts differ.
    Difference,
}

/// The names of the roles in theme files, in the order of `Role`.
const ROLES: [&str; 16] = [
    "title", "hint", "border", "border_focus", "selection", "pass", "fail", "warn", "error", "working", "pick",
    "muted", "diff_add", "diff_remove", "same", "difference",
];

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: bold, dim and reverse only.
    None,
    /// The 16 of the terminal's own palette.
    Sixteen,
    /// The 256 of xterm.
    Indexed,
    True,
}

impl Depth {
    /// Reads the usual variables through `var`.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|v| !v.is_empty());
        let term = set("TERM").unwrap_or_default();
        if set("NO_COLOR").is_some() || term == "dumb" || term.ends_with("-m") || term == "vt100" {
            Self::None
        } else if set("COLORTERM").is_some_and(|v| v == "truecolor" || v == "24bit") {
            Self::True
        } else if term.contains("256color") {
            Self::Indexed
        } else {
            Self::Sixteen
        }
    }

    /// The nearest colour that the terminal shows; the default where none is near.
    pub fn color(self, color: Color) -> Color {
        match (self, color) {
            (Self::None, _) => Color::Reset,
            (Self::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(indexed(r, g, b)),
            (Self::Sixteen, Color::Rgb(r, g, b)) => hue(r, g, b),
            (_, other) => other,
        }
    }

    /// A style with colours that the terminal shows. A background that it cannot show becomes an underline.
    pub fn style(self, style: Style) -> Style {
        // The nearest of 16 colours is rarely one that text is legible on.
        let lost = style.bg.is_some_and(|c| self == Self::None || self == Self::Sixteen && matches!(c, Color::Rgb(..)));
        let bg = if lost { None } else { style.bg.map(|c| self.color(c)) };
        let style = Style { fg: style.fg.map(|c| self.color(c)), bg, ..style };
        if lost { style.add_modifier(Modifier::UNDERLINED) } else { style }
    }
}

/// The nearest entry of xterm's colour cube or grey ramp.
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    const STEPS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let near = |v: u8| (0..6).min_by_key(|&i: &usize| (STEPS[i] - i32::from(v)).abs()).unwrap_or(0);
    let apart = |x: [i32; 3]| x.iter().zip([r, g, b]).map(|(a, v)| (a - i32::from(v)).pow(2)).sum::<i32>();
    let (cr, cg, cb) = (near(r), near(g), near(b));
    let cube = [STEPS[cr], STEPS[cg], STEPS[cb]];
    let mean = (i32::from(r) + i32::from(g) + i32::from(b)) / 3;
    let step = ((mean - 8 + 5) / 10).clamp(0, 23);
    let grey = 8 + 10 * step;
    if apart([grey; 3]) < apart(cube) { 232 + step as u8 } else { (16 + 36 * cr + 6 * cg + cb) as u8 }
}

/// The hue as one of the six colours; greys are the default, so that they are legible on any background.
fn hue(r: u8, g: u8, b: u8) -> Color {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max - min < 48 {
        return Color::Reset;
    }
    let high = |v: u8| v > min + (max - min) / 2;
    match (high(r), high(g), high(b)) {
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (true, true, false) => Color::Yellow,
        (false, false, true) => Color::Blue,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        _ => Color::Reset,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    syntax: String,
    #[serde(default)]
    chrome: BTreeMap<String, String>,
}

/// Styles by role.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
    /// Name of the colours for code.
    pub syntax: String,
    /// Colours that the terminal can show.
    pub depth: Depth,
    chrome: [Style; ROLES.len()],
}

/// Why a theme cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// Not in the format.
    #[error("theme `{theme}`: {why}")]
    File { theme: String, why: String },
    #[error("there is no theme `{name}`; the themes are auto, {built_in}, and the files {folder}/NAME.toml")]
    Unknown { name: String, built_in: String, folder: String },
}

impl Theme {
    /// A theme of the program or a file of `folder`; `auto` goes by the background.
    pub fn find(name: &str, folder: &Path, light_background: bool, depth: Depth) -> Result<Self, ThemeError> {
        let wanted = match name {
            "auto" if light_background => "light",
            "auto" => "dark",
            other => other,
        };
        if let Some((name, text)) = BUILT_IN.iter().find(|(n, _)| *n == wanted) {
            return Self::parse(name, text, depth);
        }
        let unknown = || {
            let built_in = BUILT_IN.map(|b| b.0).join(", ");
            ThemeError::Unknown { name: name.to_owned(), built_in, folder: folder.display().to_string() }
        };
        // A name, not a path.
        if name.contains(['/', '\\']) {
            return Err(unknown());
        }
        match files::text(&folder.join(format!("{name}.toml")), files::TEXT) {
            Ok(text) => Self::parse(name, &text, depth),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(unknown()),
            Err(error) => Err(ThemeError::File { theme: name.to_owned(), why: error.to_string() }),
        }
    }

    /// Reads a theme file.
    pub fn parse(called: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let wrong = |why: String| ThemeError::File { theme: called.to_owned(), why };
        let file: File = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let mut chrome = [Style::default(); ROLES.len()];
        for (role, words) in &file.chrome {
            let at = ROLES.iter().position(|n| n == role).ok_or_else(|| {
                wrong(format!("there is no role `{role}` in [chrome]; the roles are {}", ROLES.join(", ")))
            })?;
            let style = style_of(words).map_err(|word| {
                wrong(format!(
                    "chrome.{role}: `{word}` is neither a colour nor one of bold, dim, italic, underlined, reversed"
                ))
            })?;
            chrome[at] = depth.style(style);
        }
        Ok(Self { name: file.name, syntax: file.syntax, depth, chrome })
    }

    pub fn style(&self, role: Role) -> Style {
        self.chrome[role as usize]
    }
}

/// Reads `bold green`, `reversed`, `#rrggbb on blue`. The error is the word that means nothing.
fn style_of(words: &str) -> Result<Style, String> {
    let mut style = Style::default();
    let mut background = false;
    for word in words.split_whitespace() {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "bold" => style = style.add_modifier(Modifier::BOLD),
            "dim" => style = style.add_modifier(Modifier::DIM),
            "italic" => style = style.add_modifier(Modifier::ITALIC),
            "underlined" | "underline" => style = style.add_modifier(Modifier::UNDERLINED),
            "reversed" | "reverse" => style = style.add_modifier(Modifier::REVERSED),
            "default" | "none" => {}
            "on" => background = true,
            name => {
                let color: Color = name.parse().map_err(|_| word.to_owned())?;
                style = if std::mem::take(&mut background) { style.bg(color) } else { style.fg(color) };
            }
        }
    }
    Ok(style)
}

/// The terminal's background is light: by `COLORFGBG`, else the terminal is asked.
pub fn background_is_light(var: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(background) = var("COLORFGBG").and_then(|v| v.rsplit(';').next().and_then(|b| b.parse::<u8>().ok())) {
        return background == 7 || background == 15;
    }
    let mut options = terminal_colorsaurus::QueryOptions::default();
    options.timeout = std::time::Duration::from_millis(150);
    matches!(terminal_colorsaurus::theme_mode(options), Ok(terminal_colorsaurus::ThemeMode::Light))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_themes_define_every_role() {
        for (_, text) in BUILT_IN {
            let theme = Theme::parse("built-in", text, Depth::True).unwrap();
            let file: File = toml::from_str(text).unwrap();
            for name in ROLES {
                assert!(file.chrome.contains_key(name), "{}: {name}", theme.name);
            }
        }
    }

    #[test]
    fn roles_are_named_in_their_order() {
        for (role, name) in [
            (Role::Title, "title"),
            (Role::Pass, "pass"),
            (Role::Pick, "pick"),
            (Role::Muted, "muted"),
            (Role::DiffAdd, "diff_add"),
            (Role::Difference, "difference"),
        ] {
            assert_eq!(ROLES[role as usize], name);
        }
    }

    #[test]
    fn mistakes_name_the_place() {
        let wrong = |text: &str| Theme::parse("mine", text, Depth::True).unwrap_err().to_string();
        let role = wrong("name='x'\nsyntax='y'\n[chrome]\npas='bold'");
        assert!(role.contains("`mine`") && role.contains("`pas`") && role.contains("pass"), "{role}");
        let word = wrong("name='x'\nsyntax='y'\n[chrome]\npass='bold greeen'");
        assert!(word.contains("chrome.pass") && word.contains("greeen"), "{word}");
        let folder = tempfile::tempdir().unwrap();
        let find = |name: &str| Theme::find(name, folder.path(), false, Depth::True);
        let said = find("blue").unwrap_err().to_string();
        assert!(said.contains("light, dark") && said.contains("NAME.toml"), "{said}");
        assert!(find("../blue").is_err());
        std::fs::write(folder.path().join("blue.toml"), BUILT_IN[1].1.replace("dark", "blue")).unwrap();
        assert_eq!(find("blue").unwrap().name, "blue");
    }

    #[test]
    fn without_colours_attributes_remain() {
        let theme = Theme::find("dark", Path::new(""), false, Depth::None).unwrap();
        let pass = theme.style(Role::Pass);
        assert!(pass.fg.is_none_or(|c| c == Color::Reset));
        assert!(pass.add_modifier.contains(Modifier::BOLD));
    }

    #[test]
    fn a_difference_is_seen_without_its_background() {
        for (name, depth) in [("dark", Depth::None), ("light", Depth::None)] {
            let style = Theme::find(name, Path::new(""), false, depth).unwrap().style(Role::Difference);
            assert!(style.bg.is_none() && style.add_modifier.contains(Modifier::UNDERLINED), "{name}");
        }
        let coloured = style_of("on #303030").unwrap();
        assert!(Depth::Sixteen.style(coloured).add_modifier.contains(Modifier::UNDERLINED));
        assert_eq!(Depth::True.style(coloured), coloured);
    }

    #[test]
    fn depth_from_the_environment() {
        let detect = |pairs: &[(&str, &str)]| {
            Depth::detect(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        assert_eq!(detect(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(detect(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(detect(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(detect(&[("TERM", "xterm"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(detect(&[("TERM", "xterm"), ("NO_COLOR", "")]), Depth::Sixteen);
        assert_eq!(detect(&[("TERM", "dumb")]), Depth::None);
    }

    #[test]
    fn colours_come_down() {
        assert_eq!(Depth::Indexed.color(Color::Rgb(255, 0, 0)), Color::Indexed(196));
        assert_eq!(Depth::Indexed.color(Color::Rgb(128, 128, 128)), Color::Indexed(244));
        assert_eq!(Depth::Sixteen.color(Color::Rgb(200, 40, 40)), Color::Red);
        assert_eq!(Depth::Sixteen.color(Color::Rgb(220, 223, 228)), Color::Reset);
        assert_eq!(Depth::None.color(Color::Red), Color::Reset);
    }
}
