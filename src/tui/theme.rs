//! Colours by role, from a theme file, brought down to what the terminal can show.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use crate::files;

/// The themes of the program.
const BUILT_IN: [(&str, &str); 13] = [
    ("light", include_str!("../../themes/light.toml")),
    ("dark", include_str!("../../themes/dark.toml")),
    ("catppuccin-latte", include_str!("../../themes/catppuccin-latte.toml")),
    ("catppuccin-mocha", include_str!("../../themes/catppuccin-mocha.toml")),
    ("dracula", include_str!("../../themes/dracula.toml")),
    ("github-light", include_str!("../../themes/github-light.toml")),
    ("gruvbox-dark", include_str!("../../themes/gruvbox-dark.toml")),
    ("gruvbox-light", include_str!("../../themes/gruvbox-light.toml")),
    ("rose-pine", include_str!("../../themes/rose-pine.toml")),
    ("rose-pine-dawn", include_str!("../../themes/rose-pine-dawn.toml")),
    ("solarized-dark", include_str!("../../themes/solarized-dark.toml")),
    ("solarized-light", include_str!("../../themes/solarized-light.toml")),
    ("tokyo-night", include_str!("../../themes/tokyo-night.toml")),
];

/// Names that stand for one of two themes: that for a dark background, that for a light one.
const PAIRS: [(&str, &str, &str); 4] = [
    ("auto", "dark", "light"),
    ("catppuccin", "catppuccin-mocha", "catppuccin-latte"),
    ("gruvbox", "gruvbox-dark", "gruvbox-light"),
    ("solarized", "solarized-dark", "solarized-light"),
];

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
    background: Option<String>,
    foreground: Option<String>,
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
    /// Colours of the whole screen, where the theme does not leave them to the terminal.
    ground: Style,
    /// The background, which the colours of code are made legible on.
    background: Option<Color>,
    chrome: [Style; ROLES.len()],
}

/// Why a theme cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// Not in the format.
    #[error("theme `{theme}`: {why}")]
    File { theme: String, why: String },
    #[error("there is no theme `{name}`; the themes are {built_in}, and the files {folder}/NAME.toml")]
    Unknown { name: String, built_in: String, folder: String },
}

/// The themes for a terminal.
#[derive(Clone, Debug)]
pub struct Themes {
    /// The user's own.
    pub folder: PathBuf,
    /// The terminal's background is light.
    pub light: bool,
    pub depth: Depth,
}

impl Themes {
    /// For the terminal as its variables describe it. Its background is asked for only if the theme `name` is a
    /// pair, as that may take a while; else it is that of the theme.
    pub fn detect(name: &str, folder: &Path) -> Self {
        let var = |name: &str| std::env::var(name).ok();
        let depth = Depth::detect(var);
        let light = if Theme::is_pair(name) {
            background_is_light(var)
        } else {
            Theme::find(name, folder, false, depth).is_ok_and(|theme| theme.is_light())
        };
        Self { folder: folder.to_path_buf(), light, depth }
    }

    pub fn find(&self, name: &str) -> Result<Theme, ThemeError> {
        Theme::find(name, &self.folder, self.light, self.depth)
    }
}

impl Theme {
    /// A theme of the program or a file of `folder`; of a pair the one for the background.
    pub fn find(name: &str, folder: &Path, light_background: bool, depth: Depth) -> Result<Self, ThemeError> {
        let pair = PAIRS.iter().find(|pair| pair.0 == name);
        let wanted = pair.map_or(name, |&(_, dark, light)| if light_background { light } else { dark });
        if let Some(text) = built_in(wanted) {
            return Self::parse(wanted, text, depth);
        }
        let unknown = || {
            let built_in = Self::names(Path::new("")).join(", ");
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

    /// All names that [`Self::find`] knows: pairs, the themes of the program, the files of `folder`.
    pub fn names(folder: &Path) -> Vec<String> {
        let own = PAIRS.iter().map(|pair| pair.0).chain(BUILT_IN.iter().map(|theme| theme.0));
        let mut names: Vec<String> = own.map(str::to_owned).collect();
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let stem = |file: std::fs::DirEntry| file.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned);
        let mut others: Vec<String> = files.filter_map(stem).filter(|name| !names.contains(name)).collect();
        others.sort();
        names.append(&mut others);
        names
    }

    /// The background decides about the theme of this name.
    pub fn is_pair(name: &str) -> bool {
        PAIRS.iter().any(|pair| pair.0 == name)
    }

    /// Reads a theme file. One with colours of its own for the whole screen gives way to `light` or `dark` where
    /// the terminal has too few.
    pub fn parse(called: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let wrong = |why: String| ThemeError::File { theme: called.to_owned(), why };
        let file: File = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let ground = |key: &str, word: &Option<String>| -> Result<Option<Color>, ThemeError> {
            let read = |word: &String| word.parse().map_err(|_| wrong(format!("{key}: `{word}` is not a colour")));
            word.as_ref().map(read).transpose()
        };
        let background = ground("background", &file.background)?;
        let foreground = ground("foreground", &file.foreground)?;
        if background.is_some() != foreground.is_some() {
            return Err(wrong("`background` and `foreground` go together: give both or neither".to_owned()));
        }
        if let Some(background) = background.filter(|_| depth < Depth::Indexed) {
            let plain = if is_light(background) { "light" } else { "dark" };
            return Ok(Self { name: file.name, ..Self::parse(plain, built_in(plain).unwrap_or_default(), depth)? });
        }
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
        let ground = depth.style(Style { fg: foreground, bg: background, ..Style::default() });
        Ok(Self { name: file.name, syntax: file.syntax, depth, ground, background, chrome })
    }

    /// Gives every cell that has the terminal's own colours those of the theme.
    pub fn paint(&self, buf: &mut Buffer) {
        let (Some(foreground), Some(background)) = (self.ground.fg, self.ground.bg) else { return };
        for cell in &mut buf.content {
            if cell.fg == Color::Reset {
                cell.fg = foreground;
            }
            if cell.bg == Color::Reset {
                cell.bg = background;
            }
        }
    }

    /// The theme is for a light background.
    pub fn is_light(&self) -> bool {
        self.background.map_or(self.name == "light", is_light)
    }

    /// A colour of code as the terminal shows it, moved away from the theme's background until it is legible.
    pub fn code_color(&self, (r, g, b): (u8, u8, u8)) -> Color {
        let shown = |rgb: (u8, u8, u8)| self.depth.color(Color::Rgb(rgb.0, rgb.1, rgb.2));
        let Some(background) = self.background else { return shown((r, g, b)) };
        let goal: u8 = if is_light(background) { 0 } else { 255 };
        let moved = |v: u8, by: i32| (i32::from(v) + (i32::from(goal) - i32::from(v)) * by / 10) as u8;
        let steps = (0..10).map(|by| shown((moved(r, by), moved(g, by), moved(b, by))));
        let background = self.depth.color(background);
        steps.into_iter().find(|&c| contrast(c, background) >= TEXT_CONTRAST).unwrap_or(Color::Reset)
    }

    pub fn style(&self, role: Role) -> Style {
        self.chrome[role as usize]
    }
}

/// Least contrast of text by the accessibility guidelines of the web (WCAG 2, level AA).
const TEXT_CONTRAST: f64 = 4.5;

fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|theme| theme.0 == name).map(|theme| theme.1)
}

fn is_light(color: Color) -> bool {
    luminance(color) > 0.18
}

/// Contrast of two colours by WCAG, 1 to 21.
fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance by WCAG; the 16 of a palette have that of a common one.
fn luminance(color: Color) -> f64 {
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    let (r, g, b) = match color {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(n @ 232..) => (8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232)),
        Color::Indexed(n @ 16..) => {
            let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            (step((n - 16) / 36), step((n - 16) / 6 % 6), step((n - 16) % 6))
        }
        Color::Red => (197, 15, 31),
        Color::Green => (19, 161, 14),
        Color::Yellow => (193, 156, 0),
        Color::Blue => (0, 55, 218),
        Color::Magenta => (136, 23, 152),
        Color::Cyan => (58, 150, 221),
        Color::White => (255, 255, 255),
        _ => (12, 12, 12),
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
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
        assert!(
            said.contains("auto, catppuccin") && said.contains("light, dark") && said.contains("NAME.toml"),
            "{said}"
        );
        assert!(find("../blue").is_err());
        std::fs::write(folder.path().join("blue.toml"), BUILT_IN[1].1.replace("dark", "blue")).unwrap();
        assert_eq!(find("blue").unwrap().name, "blue");
        assert!(Theme::names(folder.path()).ends_with(&["tokyo-night".to_owned(), "blue".to_owned()]));
        for name in Theme::names(folder.path()) {
            assert!(find(&name).is_ok(), "{name}");
        }
        let half = wrong("name='x'\nsyntax='y'\nbackground='#000000'");
        assert!(half.contains("foreground"), "{half}");
    }

    #[test]
    fn every_role_is_legible() {
        for (name, text) in BUILT_IN {
            for depth in [Depth::True, Depth::Indexed] {
                let theme = Theme::parse(name, text, depth).unwrap();
                // The two that leave the background to the terminal have the palette's colours only.
                let plain = theme.ground.bg.is_none();
                let text_contrast = if plain { 3.0 } else { TEXT_CONTRAST };
                let foreground = theme.ground.fg.unwrap_or(if name == "light" { Color::Black } else { Color::White });
                let background = theme.ground.bg.unwrap_or(if name == "light" { Color::White } else { Color::Black });
                for (role, style) in ROLES.iter().zip(theme.chrome) {
                    let (mut fg, mut bg) = (style.fg.unwrap_or(foreground), style.bg.unwrap_or(background));
                    if style.add_modifier.contains(Modifier::REVERSED) {
                        std::mem::swap(&mut fg, &mut bg);
                    }
                    assert!(plain || !style.add_modifier.contains(Modifier::DIM), "{name}: {role} has less contrast");
                    let dim = matches!(*role, "border" | "border_focus" | "muted" | "same");
                    let least = if dim { 3.0 } else { text_contrast };
                    let found = contrast(fg, bg);
                    assert!(found >= least, "{name} {depth:?}: {role} has {found:.2}");
                }
                let difference = theme.style(Role::Difference).bg.unwrap();
                assert!(contrast(difference, background) >= 1.2, "{name} {depth:?}: differences are not seen");
            }
        }
    }

    #[test]
    fn themes_of_many_colours_give_way_where_there_are_few() {
        for (name, plain) in [("solarized-light", "light"), ("dracula", "dark")] {
            let text = built_in(name).unwrap();
            for depth in [Depth::Sixteen, Depth::None] {
                let theme = Theme::parse(name, text, depth).unwrap();
                let expected = Theme::parse(plain, built_in(plain).unwrap(), depth).unwrap();
                assert_eq!((theme.name.as_str(), theme.chrome), (name, expected.chrome));
            }
        }
    }

    #[test]
    fn a_pair_goes_by_the_background() {
        for (pair, dark, light) in PAIRS {
            let find = |is_light| Theme::find(pair, Path::new(""), is_light, Depth::True).unwrap();
            assert_eq!((find(false).name.as_str(), find(true).name.as_str()), (dark, light));
            assert!(Theme::is_pair(pair) && !find(false).is_light() && find(true).is_light());
        }
    }

    #[test]
    fn code_is_legible_and_the_ground_is_painted() {
        let theme = Theme::find("dracula", Path::new(""), false, Depth::True).unwrap();
        assert_eq!(theme.code_color((255, 255, 255)), Color::Rgb(255, 255, 255));
        let comment = theme.code_color((98, 114, 164));
        assert!(contrast(comment, theme.background.unwrap()) >= TEXT_CONTRAST);
        let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 2, 1));
        buf.set_string(0, 0, "x", Style::default().fg(Color::Red));
        theme.paint(&mut buf);
        assert_eq!((buf[(0, 0)].fg, buf[(0, 0)].bg), (Color::Red, theme.background.unwrap()));
        assert_eq!(buf[(1, 0)].fg, theme.ground.fg.unwrap());
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
