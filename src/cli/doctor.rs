//! `bass-tui doctor`: the state of this machine, each point found by trying it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::failure::{Failure, NOTHING_PASSED};
use super::findings;
use super::memory::gain;
use super::output::print;
use super::session::Session;
use crate::backend::DEVICES;
use crate::catalog::memory::Shape;
use crate::code::TargetSpec;
use crate::language::Language;
use crate::model::Outline;
use crate::options::{Flags, MODELS, SERVER, TESTS};
use crate::source::SourceInfo;
use crate::trial::{Layer, Protection};
use crate::untrusted::clean;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The models are loaded and the sandbox is attacked: what stands here has been tried. Nothing is changed.

EXAMPLES
  bass-tui doctor
  bass-tui doctor src/stats.py:mean       what its project has, and whether its tests run
  bass-tui doctor --model ~/models/qwen2-1.5b --json

EXIT CODES
  0 the models can be used, and the tests of FILE pass   1 they do not   2 wrong usage   3 the models cannot be used")]
pub struct Args {
    #[arg(
        value_name = "FILE",
        help = "Also what is found for FILE or FILE:FUNCTION: its project, interpreter and tests, and a trial of it as it is"
    )]
    file: Option<String>,
    #[command(flatten)]
    options: Flags<{ MODELS | SERVER | TESTS }>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Serialize)]
struct Findings {
    version: &'static str,
    /// The state of every device on this machine, or the reason why it cannot be used.
    devices: BTreeMap<&'static str, Result<String, String>>,
    /// `None` if the models cannot be used.
    engine: Option<SourceInfo>,
    /// The gain of int8 with the main model.
    #[serde(skip_serializing_if = "Option::is_none")]
    int8: Option<String>,
    /// The reason why they cannot be used.
    problem: Option<String>,
    protection: Protection,
    python: Result<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<findings::Findings>,
    config_dir: String,
    state_dir: String,
    cache_dir: String,
    terminal: Terminal,
}

#[derive(Serialize)]
struct Terminal {
    size: Option<(u16, u16)>,
    term: Option<String>,
    no_color: bool,
}

/// Runs the command; exit code 3 if the models cannot be loaded, else 1 if the file's tests do not pass.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let spec = args.file.as_deref().map(TargetSpec::parse).transpose().map_err(Failure::input)?;
    let at = spec.as_ref().map_or(Path::new("."), |spec| &spec.path);
    let session = Session::open_at(&args.options, Some(at))?;
    let runner = session.runner();
    let (engine, problem) = match session.source(1) {
        Ok(source) => (Some(source.info()), None),
        Err(failure) => (None, Some(failure.message)),
    };
    let file = spec.as_ref().map(|spec| findings::Findings::of(spec, &runner, &session.settings));
    let file = file.transpose().map_err(Failure::input)?;
    let has_passed = file.as_ref().is_none_or(findings::Findings::has_passed);
    let code = match engine {
        None => 3,
        Some(_) if !has_passed => NOTHING_PASSED,
        Some(_) => 0,
    };
    let python = runner.tool(Language::Python, Path::new("."));
    let int8 = session.models().ok().and_then(|models| Outline::read(&models.main).ok());
    let int8 = int8.and_then(|outline| gain(&Shape::of_model(&outline), session.settings.load.dtype));
    let findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        devices: DEVICES.iter().map(|d| (d.name, d.here(Some(&session.weights())))).collect(),
        engine,
        int8,
        problem,
        protection: runner.protection().clone(),
        python: python.map(|(program, why)| format!("{} ({why})", program.display())).map_err(|e| e.to_string()),
        file,
        config_dir: session.paths.config_dir.display().to_string(),
        state_dir: session.paths.state_dir.display().to_string(),
        cache_dir: session.paths.cache_dir.display().to_string(),
        terminal: Terminal {
            size: crossterm::terminal::size().ok(),
            term: std::env::var("TERM").ok(),
            no_color: std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
        },
    };
    if args.json {
        print(&(serde_json::to_string(&findings).unwrap_or_default() + "\n"))?;
    } else {
        let file = findings.file.as_ref().map(findings::Findings::text).unwrap_or_default();
        print(&clean(&(findings.text() + &file)))?;
    }
    Ok(code)
}

impl Findings {
    fn text(&self) -> String {
        let engine = match &self.engine {
            Some(e) if e.is_served() => format!("{} at the server {}", e.model, e.device),
            Some(e) => format!(
                "{} with draft {}\ndevice        {} {}, {} kernels, {} threads, context {}",
                e.model, e.draft, e.device, e.dtype, e.kernel, e.threads, e.context
            ),
            None => format!("CANNOT BE USED: {}", self.problem.as_deref().unwrap_or_default()),
        };
        let int8 = self.int8.as_ref().map(|gain| format!("with int8     {gain}\n")).unwrap_or_default();
        let device = |(name, what): (&&str, &Result<String, String>)| {
            format!("  {name:<13} {}\n", what.as_ref().unwrap_or_else(|why| why))
        };
        let devices: String = self.devices.iter().map(device).collect();
        let p = &self.protection;
        let layer = |l: &Layer| format!("  {:<13} {}{}\n", l.name, if l.holds { "" } else { "- " }, l.how);
        let layers: String = p.layers.iter().map(layer).collect();
        let missing = |line: &String| format!("  {:<13} {line}\n", "not there");
        let missing: String = p.missing.iter().map(missing).collect();
        let size = self.terminal.size.map_or("unknown".to_owned(), |(w, h)| format!("{w}x{h}"));
        format!(
            "bass-tui {}\nmodel         {engine}\n{int8}devices\n{devices}sandbox       {}\n{layers}{missing}python        {}\nconfig        {}\nstate         {}\ncache         {}\nterminal      {size}, TERM {}{}\n",
            self.version,
            p.summary.strip_prefix("sandbox: ").unwrap_or(&p.summary),
            self.python.as_ref().unwrap_or_else(|why| why),
            self.config_dir,
            self.state_dir,
            self.cache_dir,
            self.terminal.term.as_deref().unwrap_or("not set"),
            if self.terminal.no_color { ", NO_COLOR" } else { "" },
        )
    }
}
