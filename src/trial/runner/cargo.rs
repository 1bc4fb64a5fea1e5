//! Rust in a crate: the tests file is built with the candidate's crate by cargo, offline, in a copy of the project, then run.
//!
//! Building runs nothing of the candidate's (its file is no build script), so the folder of build products is kept for the next one.
//! While tests run, it can only be read.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::project::{Base, Copy, Project};
use super::super::sandbox::scratch::Scratch;
use super::super::sandbox::{Ended, Job, Run, Sandbox};
use super::super::toolchain::Tool;
use super::super::{Limits, Trial, TrialError, Verdict};
use super::nonce;
use super::project::guard;
use super::record::{Channel, VARIABLE};
use super::rust::{GUARD, compile_limits, judge_run, make_executable, not_compiled};
use super::tests_in_text::guarded;

/// How long a build may take, the first of all packages included.
const BUILD_TIME: Duration = Duration::from_secs(300);

/// What is kept between the builds of a project: its place, so that cargo knows it again, and what was built.
#[derive(Debug)]
pub struct Workshop {
    place: Copy,
    products: Scratch,
}

impl Workshop {
    /// An empty one.
    pub fn new(base: &Base, project: &Project) -> Result<Self, TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("a folder for the build could not be made: {e}"));
        let place = base.copy(project, None).map_err(TrialError::Sandbox)?;
        Ok(Self { place, products: Scratch::new().map_err(failed)? })
    }
}

/// Runs a tests file of a crate with the candidate in it.
pub fn run(
    sandbox: &Sandbox,
    rustc: &Tool,
    (base, workshop): (&Base, &Workshop),
    project: &Project,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
    let place = workshop.place.path();
    let tests_file = project.tests.clone().unwrap_or_default();
    let is_integration = tests_file.parent() == Some(&project.package.join("tests"));
    if !is_integration || project.file.file_name() == Some("build.rs".as_ref()) {
        return Err(TrialError::Interpreter(format!(
            "{} is no tests file of its crate: put the tests into {}, or give --test-command 'cargo test --offline'",
            tests_file.display(),
            project.package.join("tests").display()
        )));
    }
    let stem = tests_file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let text = fs::read_to_string(project.root.join(&tests_file)).map_err(failed)?;
    let secret = format!("guard_{}", nonce()?);
    let (text, tests) = guarded(&text, &["#[test]"], |i| format!(" let _guard = crate::{secret}::begin({i});"));
    if tests.iter().all(|test| test.ignored) {
        return Ok(Verdict::not_run(&format!("no tests found in {}", tests_file.display())));
    }
    let at = inner_attributes(&text);
    let guard_file = place.join("guard.rs");
    let (head, rest) = text.split_at(at);
    let text = format!("{head}#[path = {:?}] mod {secret}; {rest}", guard_file.display().to_string());
    fs::write(&guard_file, GUARD.replace("@VARIABLE@", VARIABLE)).map_err(failed)?;
    base.put(place, &tests_file, &text).map_err(failed)?;
    base.put(place, &project.file, &trial.program).map_err(failed)?;

    let build = build(sandbox, rustc, workshop, project, &stem, trial.limits, cancel)?;
    let binary = build.output.lines().rev().find_map(|line| {
        let path = line.trim().strip_prefix("Executable ")?.rsplit_once('(')?.1.strip_suffix(')')?;
        Some(place.join(&project.package).join(path)).filter(|path| path.starts_with(workshop.products.path()))
    });
    let Some(binary) = binary.filter(|binary| build.ended == Ended::Exited(0) && make_executable(binary)) else {
        return not_compiled(&build, &trial.limits);
    };
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let nonce = nonce()?;
    let (channel, lines, variable) = Channel::open(&nonce)?;
    let readable = [vec![workshop.products.path().to_path_buf(), place.to_path_buf()], copy.readable.clone()].concat();
    let writable = [copy.path().to_path_buf()];
    let folder = copy.path().join(&project.package);
    let job = Job {
        readable: &readable,
        writable: &writable,
        folder: Some(&folder),
        environment: vec![variable],
        lines,
        announces: false,
        ..Job::driver(&binary, vec!["--test-threads=1".into()], Vec::new(), trial.limits)
    };
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    let verdict = judge_run(&run, channel.read(&nonce).as_deref(), &tests, &nonce, &trial.limits, "")?;
    Ok(guard(verdict, base, project, &copy))
}

fn build(
    sandbox: &Sandbox,
    rustc: &Tool,
    workshop: &Workshop,
    project: &Project,
    stem: &str,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<Run, TrialError> {
    let programs = rustc.program.parent().unwrap_or(Path::new("/usr/bin"));
    let cargo = programs.join("cargo");
    if !cargo.is_file() {
        return Err(TrialError::Interpreter(format!("there is no cargo beside {}", rustc.program.display())));
    }
    // Of cargo's folder only the sources of packages: credentials lie there, too.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).filter(|home| home.is_absolute());
    let mut readable = rustc.readable.clone();
    readable
        .extend(home.iter().flat_map(|home| [home.join("registry"), home.join("git")]).filter(|path| path.is_dir()));
    readable.extend(workshop.place.readable.clone());
    let mut arguments: Vec<OsString> =
        ["test", "--no-run", "--offline", "--color=never", "--test", stem].map(OsString::from).to_vec();
    let place = workshop.place.path();
    if place.join("Cargo.lock").is_file() || place.join(&project.package).join("Cargo.lock").is_file() {
        arguments.push("--locked".into());
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let mut environment: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path.into()),
        ("CARGO_TARGET_DIR".into(), workshop.products.path().into()),
        ("CARGO_INCREMENTAL".into(), "0".into()),
        ("RUSTFLAGS".into(), "-Awarnings -Cdebuginfo=0".into()),
    ];
    environment.extend(home.map(|home| ("CARGO_HOME".into(), home.into())));
    let writable = [place.to_path_buf(), workshop.products.path().to_path_buf()];
    let folder = place.join(&project.package);
    let limits = Limits { wall: BUILD_TIME.max(limits.wall), ..compile_limits(limits) };
    let job = Job {
        readable: &readable,
        writable: &writable,
        folder: Some(&folder),
        environment,
        announces: false,
        ..Job::driver(&cargo, arguments, Vec::new(), limits)
    };
    sandbox.run(job, cancel).map_err(TrialError::Sandbox)
}

/// Where the attributes and comments that must come first end.
fn inner_attributes(text: &str) -> usize {
    let is_head = |line: &&str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("#!") || line.starts_with("//!")
    };
    text.split_inclusive('\n').take_while(is_head).map(str::len).sum()
}
