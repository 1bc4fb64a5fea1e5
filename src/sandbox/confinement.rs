//! Rules of the kernel for each program of a tier, on Linux.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Job;
use super::child::Confinement;
use super::layout::Tenant;
use super::namespaces::{Namespaces, Root, User};
use super::scratch::is_within;
use super::tier::Tier;
use super::{landlock, layout, seccomp};

/// The parts of a tier that all its programs share.
#[derive(Clone, Debug)]
pub struct Mechanisms {
    pub tier: Tier,
    /// Landlock version of the kernel, 0 if it has none.
    pub landlock_abi: u32,
    /// The program runs as another user than this one, who is root.
    pub is_other_user: bool,
    filters: Vec<seccompiler::BpfProgram>,
}

impl Mechanisms {
    /// Mechanisms that this machine should have for a tier; `probe` shows whether it works.
    pub fn new(tier: Tier, is_other_user: bool) -> Result<Self, String> {
        let landlock_abi = landlock::kernel_abi();
        if landlock_abi == 0 && tier != Tier::Full {
            return Err("this kernel offers no Landlock (Linux 5.13 or newer with `landlock` in its list of security modules is \
                 needed)"
                .to_owned());
        }
        Ok(Self { tier, landlock_abi, is_other_user, filters: seccomp::filters(landlock_abi, tier)? })
    }

    /// The confinement of a job whose own folder is `scratch`.
    pub fn confine(&self, job: &Job, scratch: &Path) -> Result<Confinement, String> {
        let landlock = match self.landlock_abi {
            0 => None,
            abi => Some(landlock::ruleset(abi, job.readable, job.writable, scratch, self.tier == Tier::Full)?),
        };
        let namespaces = self.namespaces(job, scratch)?;
        Ok(Confinement { namespaces, landlock, sees_own_map: job.sees_own_map, filters: self.filters.clone() })
    }

    fn namespaces(&self, job: &Job, scratch: &Path) -> Result<Option<Namespaces>, String> {
        let Job { readable, writable, .. } = *job;
        if !self.tier.has_namespaces() {
            return Ok(None);
        }
        let root = if self.tier == Tier::Full {
            let system = landlock::SYSTEM.iter().map(Path::new).filter(|path| !path.starts_with("/dev"));
            let all_writable = std::iter::once(scratch).chain(writable.iter().map(PathBuf::as_path));
            // The other user can neither write what is root's, nor read what is root's alone. Folders of runs
            // are given to it.
            let suits = || {
                writable.iter().all(|path| is_within(path))
                    && readable
                        .iter()
                        .map(PathBuf::as_path)
                        .chain([job.program])
                        .all(|path| is_open(path) || is_within(path))
            };
            let user = if self.is_other_user && suits() {
                User::other().map_err(|e| format!("a pipe could not be made: {e}"))?
            } else {
                User::same()
            };
            let own = || (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
            let (number, group) = user.other_number().map_or_else(own, |number| (number, number));
            let tenant = Tenant { user: number, group, home: scratch, memory: job.limits.memory };
            let steps = layout::steps(
                system.chain(readable.iter().map(PathBuf::as_path)),
                all_writable,
                std::iter::once(job.program).chain(job.folder),
                tenant,
            )?;
            Some(Root { steps, user, in_memory: landlock::writing(self.landlock_abi) })
        } else {
            None
        };
        Ok(Some(Namespaces { root }))
    }
}

/// Returns true if everybody may read a folder or file, by its own mode.
fn is_open(path: &Path) -> bool {
    // A path that does not exist is not shown either.
    let Ok(meta) = std::fs::metadata(path) else { return true };
    let needed = if meta.is_dir() { 0o005 } else { 0o004 };
    meta.mode() & needed == needed
}
