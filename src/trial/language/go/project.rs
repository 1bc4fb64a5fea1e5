//! Go in a module of the user's: the tests of a file, compiled in a copy of the project, offline, from the
//! user's own modules.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ROW;
use super::build_cache::BuildCache;
use super::lone::with_package;
use super::module::{self, Built, GoRuns, Suite, evidence, failures};
use super::report::Told;
use super::text::{module_path, package_of};
use crate::code::unmet_go_constraint;
use crate::files;
use crate::hash;
use crate::sandbox::{Ended, Limits, Run, Scratch};
use crate::trial::language::compiled::{no_such_test, not_compiled};
use crate::trial::language::row::{
    Base, BaselineCache, CALLED, Context, Copy, Evidence, Project, Tool, Trial, TrialError, Verdict, decide, nonce,
};
use crate::trial::project::baseline::Baseline;
use crate::trial::project::runs::candidate_limits;

/// Most tests that are left out as they fail for reasons of their own.
const MOST_UNRELATED: usize = 20;

/// The build folder of a module. Its path never changes, so that Go finds its compiled packages again.
#[derive(Debug)]
struct BuildFolder {
    base: Arc<Base>,
    copy: Copy,
    /// The tests built with the project's own program, if they were built.
    unchanged: Option<Arc<Built>>,
}

/// The build folders of modules, one for each file and its tests, so that files left by another candidate are
/// not built.
#[derive(Debug, Default)]
pub struct BuildFolders(Mutex<HashMap<(PathBuf, PathBuf, PathBuf), BuildFolder>>);

/// Runs a tests file of a module with the candidate in it.
pub fn run(
    at: &Context,
    go: &Tool,
    (builds, folders, cache): (&BuildCache, &BuildFolders, Option<&BaselineCache>),
    trial: &Trial,
    project: &Project,
) -> Result<Verdict, TrialError> {
    if project.tests.as_ref() == Some(&project.file) {
        return Ok(Verdict::not_run("examples in Go's documentation are not run: give the tests as a file"));
    }
    let suite = suite_of(project, go.version.1)?;
    let base = at.projects.base(project)?;
    let own = base.read(&project.file).unwrap_or_default();
    let lone = project.lone.as_ref().map(|_| with_package(&trial.program, &suite.package));
    let candidate = lone.as_deref().unwrap_or(&trial.program);
    if let Some(why) = left_out_here(&suite, &own, go.version.1) {
        return Ok(Verdict::not_run(&why));
    }
    let names = match asked_of(&suite) {
        Ok(names) => names,
        Err(none) => return Ok(*none),
    };
    let runs = GoRuns { at, go, builds, suite: &suite, limits: trial.limits };
    let build = |program: &str| folders.build(&runs, project, &base, program);
    let baseline = |times: usize| {
        at.projects.baseline(project, &base, times, (cache, at.cancel), |copy| {
            let unchanged = build(&own)?;
            let Built::Program(program, sources, _) = &*unchanged else { return Ok(None) };
            let (mut known, mut left, mut elapsed) = (Vec::new(), names.clone(), Duration::ZERO);
            // All code of a lone file may be the candidate's.
            let patience = if project.lone.is_some() { 1 } else { at.patience };
            let limits = Limits { wall: trial.limits.wall * patience, ..trial.limits };
            let runs = GoRuns { limits, ..runs };
            // A panic ends all tests. The tests that had not begun are run again without it.
            while !left.is_empty() {
                let (run, told) = runs.once((program, sources), copy, &left)?;
                // A test that never ends gives no candidate more time.
                if run.ended != Ended::WallLimit {
                    elapsed += run.elapsed;
                }
                let Some(told) = told.filter(|told| !told.begun.is_empty()) else { break };
                left.retain(|name| !told.begun.contains(name));
                known.extend(told.all());
            }
            Ok((!known.is_empty()).then_some((known, elapsed)))
        })
    };
    // A flaky candidate must not make its tests count as flaky.
    let is_own = own == candidate;
    let mut known = baseline(1)?;
    if at.prepares {
        return Ok(Verdict::not_run("only the baseline was asked for"));
    }
    if is_own && !known.flaky.is_empty() {
        let wanted = [&known.wanted[..], &known.flaky].concat();
        known = Arc::new(Baseline { wanted, flaky: Vec::new(), ..(*known).clone() });
    }
    let built = build(candidate)?;
    let (program, sources) = match usable(&built, is_own, &project.file, || build(&own))? {
        Ok(program) => program,
        Err(run) => return not_compiled(run.clone(), trial.limits),
    };
    let try_candidate = |known: &Baseline| {
        // A test that is left out would decide how the process ends.
        let names: Vec<String> = names.iter().filter(|name| !known.is_left_out(name)).cloned().collect();
        let copy = base.copy(project, Some(candidate)).map_err(TrialError::Sandbox)?;
        let limits = candidate_limits(trial.limits, known.elapsed);
        let runs = GoRuns { limits, ..runs };
        let (run, told) = runs.once((program, sources), &copy, &names)?;
        Ok::<_, TrialError>((names, copy, run, told))
    };
    let mut tried = try_candidate(&known)?;
    // Flaky tests are looked for only where it matters.
    let has_passed = |told: &Option<Told>| told.as_ref().is_none_or(|told| told.has_all(&known.wanted));
    if !(is_own || tried.2.ended == Ended::Exited(0) && has_passed(&tried.3)) {
        known = baseline(2)?;
        if !known.flaky.is_empty() {
            tried = try_candidate(&known)?;
        }
    }
    for _ in 0..MOST_UNRELATED {
        let (names, _, run, told) = &tried;
        let failed = told.as_ref().map(|told| failures(run, told, names)).unwrap_or_default();
        let probe = Probe { runs: &runs, folders, trial, project, base: &base };
        let unrelated = probe.unrelated(&failed)?;
        let Some((test, why)) = unrelated.first() else { break };
        if names.iter().all(|name| unrelated.iter().any(|(other, _)| other == name)) {
            return Ok(Verdict::unreached(trial.entry_point.as_deref(), Some(&format!("{test}: {why}"))));
        }
        known = Arc::new(without_unrelated(&known, &unrelated));
        tried = try_candidate(&known)?;
    }
    let (baseline, (names, copy, run, told)) = (known, tried);
    if names.is_empty() {
        return Ok(Verdict::not_run(&format!("no tests are left{}", baseline.for_reader().remark())));
    }
    // Subtests are known only after they have run.
    let is_there = |asked: &str| {
        baseline.wanted.iter().any(|name| name == asked)
            || baseline.is_left_out(asked)
            || told.iter().flat_map(|told| &told.tests).any(|test| test.name == asked)
    };
    let parts = suite.only.iter().map(|asked| asked.replace(' ', "_"));
    if let Some(asked) = parts.into_iter().find(|asked| run.ended == Ended::Exited(0) && !is_there(asked)) {
        return Ok(no_such_test(&asked, &suite.place, &baseline.wanted));
    }
    let evidence = Evidence {
        wanted: baseline.wanted.clone(),
        flaky: baseline.left_out(),
        left_out: baseline.for_reader(),
        changed: base.changed(project, &copy),
        ..evidence(run, told, names)
    };
    decide(&evidence, &candidate_limits(trial.limits, baseline.elapsed))
}

/// The program of a candidate and the folder of its sources, or the run in which `go test` refuses it. A
/// complaint of `go vet` that comes without the candidate, too, is none of its fault.
fn usable<'b>(
    built: &'b Built,
    is_own: bool,
    file: &Path,
    own: impl FnOnce() -> Result<Arc<Built>, TrialError>,
) -> Result<Result<(&'b Scratch, &'b Path), &'b Run>, TrialError> {
    let (program, sources, said) = match built {
        Built::Failed(run) => return Ok(Err(run)),
        Built::Program(program, sources, said) => (program, sources, said),
    };
    let begin = file.file_name().map(|name| format!("./{}:", name.to_string_lossy())).unwrap_or_default();
    let names_it = |said: &&Run| said.output.lines().any(|line| line.trim_start().starts_with(&begin));
    Ok(match said.as_ref().filter(names_it) {
        Some(said) if is_own || !matches!(&*own()?, Built::Program(_, _, Some(_))) => Err(said),
        _ => Ok((program, sources)),
    })
}

/// Why Go leaves out a tests file of a suite here, or the file with this text that they test.
fn left_out_here(suite: &Suite, own: &String, minor: u32) -> Option<String> {
    let mut files = suite.files.iter().map(|(file, text)| (file, text)).chain([(&suite.program, own)]);
    files.find_map(|(file, text)| {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let why = unmet_go_constraint(stem, text, minor, module::tags())?;
        Some(format!("Go leaves out {} here: {why}", file.display()))
    })
}

/// The tests of a suite that are run, or why none is.
fn asked_of(suite: &Suite) -> Result<Vec<String>, Box<Verdict>> {
    let mut names = suite.names();
    if let Some(asked) = suite.only.iter().find(|asked| !names.iter().any(|name| name == top(asked))) {
        return Err(Box::new(no_such_test(asked, &suite.place, &names)));
    }
    names.retain(|name| suite.only.is_empty() || suite.only.iter().any(|asked| name == top(asked)));
    if names.is_empty() {
        let file = suite.place.display();
        return Err(Box::new(Verdict::not_run(&format!(
            "no functions of the form TestName(t *testing.T), and no examples that say their output, found in {file}"
        ))));
    }
    Ok(names)
}

/// The name of a test without its parts.
fn top(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// The baseline without these tests and their parts, each with the reason why it fails.
fn without_unrelated(known: &Baseline, unrelated: &[(String, String)]) -> Baseline {
    let is_part = |name: &&String| name.contains('/') && unrelated.iter().any(|(test, _)| test == top(name));
    let parts = known.wanted.iter().filter(is_part).cloned();
    let names: Vec<String> = unrelated.iter().map(|(test, _)| test.clone()).chain(parts).collect();
    let mut known = known.with_broken(&names);
    known.failed.extend(unrelated.iter().cloned());
    known
}

/// Finds tests that fail for reasons of their own: with a function that panics and with one that returns zero
/// values they fail as with the candidate, and never call it.
struct Probe<'a> {
    runs: &'a GoRuns<'a>,
    folders: &'a BuildFolders,
    trial: &'a Trial,
    project: &'a Project,
    base: &'a Arc<Base>,
}

impl Probe<'_> {
    /// The unrelated ones of the tests that failed with the candidate, parts included, each with its reason.
    fn unrelated(&self, failed: &[(String, String)]) -> Result<Vec<(String, String)>, TrialError> {
        let Some([zero, panics]) = self.programs() else { return Ok(Vec::new()) };
        let mut tests: Vec<&str> = failed.iter().map(|(name, _)| top(name)).collect();
        tests.dedup();
        let mut unrelated = Vec::new();
        for test in tests.into_iter().take(MOST_UNRELATED) {
            let own: Vec<_> = failed.iter().filter(|(name, _)| top(name) == test).cloned().collect();
            let key = format!("{} {:?} {zero:?} {panics:?} {own:?}", self.base.id, self.project);
            let key = hash::of(key.as_bytes());
            let projects = self.runs.at.projects;
            let is_so = match projects.answers.get(key) {
                Some(known) => known,
                None => self.fails_so(test, &panics, &own)? && self.fails_so(test, &zero, &own)?,
            };
            if !self.runs.at.is_cancelled() {
                projects.answers.put(key, is_so);
            }
            unrelated.extend(is_so.then(|| (test.to_owned(), own[0].1.clone())));
        }
        Ok(unrelated)
    }

    /// The programs with a function that returns zero values, and with one that panics, several of each where
    /// not all can be compiled. `None` where there is no such program.
    fn programs(&self) -> Option<[Vec<String>; 2]> {
        let of = |at: usize| {
            let programs = self.trial.with_vacuity_body(&ROW.bodies[at])?;
            let whole = |program: String| match self.project.lone {
                Some(_) => with_package(&program, &self.runs.suite.package),
                None => program,
            };
            Some(programs.into_iter().map(whole).collect::<Vec<_>>()).filter(|programs| !programs.is_empty())
        };
        Some([of(0)?, of(1)?])
    }

    /// Returns true if a test fails for these reasons with the first of the programs that can be compiled, and
    /// does not call the function there.
    fn fails_so(&self, test: &str, programs: &[String], reasons: &[(String, String)]) -> Result<bool, TrialError> {
        for program in programs {
            let built = self.folders.build(self.runs, self.project, self.base, program)?;
            let Built::Program(binary, sources, _) = &*built else { continue };
            let copy = self.base.copy(self.project, Some(program)).map_err(TrialError::Sandbox)?;
            let names = [test.to_owned()];
            let (run, told) = self.runs.once((binary, sources), &copy, &names)?;
            let is_same = told.is_some_and(|told| failures(&run, &told, &names) == reasons);
            return Ok(is_same && !run.output.contains(CALLED));
        }
        Ok(false)
    }
}

impl BuildFolders {
    /// Compiles the tests with this program, in the folder of the last build. The build with the project's
    /// own program is done once.
    fn build(
        &self,
        runs: &GoRuns,
        project: &Project,
        base: &Arc<Base>,
        program: &str,
    ) -> Result<Arc<Built>, TrialError> {
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (project.root.clone(), project.file.clone(), runs.suite.place.clone());
        if !folders.get(&key).is_some_and(|place| Arc::ptr_eq(&place.base, base)) {
            // The old program may be in the folder.
            drop(folders.remove(&key));
            folders.retain(|(root, ..), _| root.exists());
            // A fixed folder lets Go find its compiled packages at the next start.
            let name = format!("{:016x}", hash::of(format!("{key:?}").as_bytes()));
            let folder = runs
                .at
                .cache
                .filter(|_| project.lone.is_none())
                .map(|cache| Scratch::at(&cache.join("go/places").join(name)));
            let folder = match folder.transpose()?.flatten() {
                Some(folder) => folder,
                None => Scratch::new()?,
            };
            let copy = base.copy_into(folder, project, None).map_err(TrialError::Sandbox)?;
            if project.lone.is_some() {
                let (major, minor) = runs.go.version;
                let text = format!("module {}\n\ngo {major}.{minor}\n", runs.suite.path);
                copy.put(&runs.suite.module.join("go.mod"), &text)?;
            }
            runs.suite.lay_out(&copy, &guard_name(runs.at.cache)?)?;
            folders.insert(key.clone(), BuildFolder { base: Arc::clone(base), copy, unchanged: None });
        }
        let is_own = base.read(&project.file).is_ok_and(|own| own == program);
        let BuildFolder { copy, unchanged, .. } = &folders[&key];
        copy.put(&project.file, program)?;
        if let Some(built) = unchanged.as_ref().filter(|_| is_own) {
            return Ok(Arc::clone(built));
        }
        let built = Arc::new(runs.compile(copy)?);
        if let Some(place) = folders.get_mut(&key).filter(|_| is_own && matches!(*built, Built::Program(..))) {
            place.unchanged = Some(Arc::clone(&built));
        }
        Ok(built)
    }
}

/// The name of the guard, which no candidate knows. The same each time, so that Go finds what it compiled.
fn guard_name(cache: Option<&Path>) -> Result<String, TrialError> {
    let file = cache.map(|cache| cache.join("go/guard"));
    let known = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).filter(|name| name.len() == 37);
    let name = known.map_or_else(|| Ok(format!("guard{}", nonce()?)), Ok::<_, TrialError>)?;
    if let Some(file) = file {
        files::replace(&file, |error| error, |file| file.write_all(name.as_bytes()))?;
    }
    Ok(name)
}

/// The tests of a file of a project, or of all files of a package.
fn suite_of(project: &Project, minor: u32) -> Result<Suite, TrialError> {
    let place = project.tests.clone().unwrap_or_default();
    let read = |path: &Path| {
        fs::read_to_string(project.root.join(path))
            .map_err(|e| TrialError::Sandbox(format!("{} cannot be read: {e}", project.root.join(path).display())))
    };
    let files = if project.is_suite() { files_of(project, &place, minor) } else { vec![place.clone()] };
    let Some(file) = files.first().filter(|file| file.to_string_lossy().ends_with("_test.go")) else {
        return Err(TrialError::Tests(format!(
            "{} is no tests file of its module: give it a name that ends in _test.go, or give the tests as --test-command",
            place.display()
        )));
    };
    let module = module_of(project, file).filter(|module| module_of(project, &project.file).as_ref() == Some(module));
    let module = module.ok_or_else(|| {
        TrialError::Tests(format!(
            "{} and {} are not of one module: give the tests as --test-command",
            file.display(),
            project.file.display()
        ))
    })?;
    let manifest = read(&module.join("go.mod"))?;
    let asked = manifest.lines().find_map(|line| line.strip_prefix("go 1.")?.split('.').next()?.trim().parse().ok());
    let path = module_path(&manifest).ok_or_else(|| {
        TrialError::Interpreter(format!("{} names no module", project.root.join(&module).join("go.mod").display()))
    })?;
    let texts = files.iter().map(|file| Ok((file.clone(), read(file)?)));
    let files = texts.collect::<Result<Vec<_>, TrialError>>()?;
    let package = package_of(&read(&project.file)?).unwrap_or("main").to_owned();
    let (asked, program, only) = (asked.unwrap_or(0), project.file.clone(), project.only.clone());
    Ok(Suite { place, files, program, package, module, path, asked, only })
}

/// The tests files of a package that this Go compiles here.
fn files_of(project: &Project, folder: &Path, minor: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.root.join(folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_compiled = |name: &String| {
        let Some(stem) = name.strip_suffix(".go").filter(|stem| stem.ends_with("_test")) else { return false };
        let text = files::text(&project.root.join(folder).join(name), files::TEXT).unwrap_or_default();
        !name.starts_with(['.', '_']) && unmet_go_constraint(stem, &text, minor, module::tags()).is_none()
    };
    let mut files: Vec<PathBuf> = names.filter(is_compiled).map(|name| folder.join(name)).collect();
    files.sort();
    files
}

/// The folder of the module that a file belongs to.
fn module_of(project: &Project, file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| project.root.join(folder).join("go.mod").is_file()).map(Path::to_path_buf)
}
