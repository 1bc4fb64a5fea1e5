//! The place where a crate is built, with what is known of its tests.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::baseline::Baseline;
use crate::sandbox::Scratch;
use crate::trial::language::row::{Base, Copy, Project, TrialError};
use crate::trial::project::cache::Projects;

/// The workshops of projects, each with the copy that it belongs to.
#[derive(Debug, Default)]
pub struct Workshops(Mutex<HashMap<PathBuf, (Arc<Base>, Workshop)>>);

impl Workshops {
    /// Calls `work` with the place where this project is built; one at a time.
    pub fn with<T>(
        &self,
        projects: &Projects,
        project: &Project,
        work: impl FnOnce(&Base, &Workshop) -> Result<T, TrialError>,
    ) -> Result<T, TrialError> {
        let base = projects.base(project)?;
        let mut workshops = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !workshops.get(&project.root).is_some_and(|(known, _)| Arc::ptr_eq(known, &base)) {
            workshops.insert(project.root.clone(), (Arc::clone(&base), Workshop::new(&base, project)?));
        }
        let (base, workshop) = &workshops[&project.root];
        work(base, workshop)
    }
}

/// A baseline with what it belongs to: the tests, and the function under test where one is named.
type Known = (Project, Option<String>, Arc<Baseline>);

/// What is kept between the builds of a project: its place, so that cargo knows it again, what was built, and
/// what is known of its tests.
#[derive(Debug)]
pub struct Workshop {
    pub place: Copy,
    pub products: Scratch,
    /// The files that are not what they are in the project.
    pub changed: RefCell<Vec<PathBuf>>,
    pub known: RefCell<Vec<Known>>,
}

impl Workshop {
    /// An empty one.
    pub fn new(base: &Base, project: &Project) -> Result<Self, TrialError> {
        let failed = |e: std::io::Error| TrialError::Sandbox(format!("a folder for the build could not be made: {e}"));
        let place = base.copy(project, None).map_err(TrialError::Sandbox)?;
        Ok(Self {
            place,
            products: Scratch::new().map_err(failed)?,
            changed: RefCell::default(),
            known: RefCell::default(),
        })
    }
}
