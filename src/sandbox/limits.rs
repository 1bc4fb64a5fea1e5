//! Per-process limits, as numbers ready to be set between fork and exec.

use super::Limits;

/// One limit: the resource and its value, soft and hard alike.
pub type Rlimit = (i32, u64);

/// Open files. Enough for any test, few enough to keep a flood small.
pub const OPEN_FILES: u64 = 256;

/// The limits of a program. `running` is the number of tasks the user runs now: the process limit of the
/// kernel counts all of them.
pub fn rlimits(limits: &Limits, addresses: u64, running: Option<u64>) -> Vec<Rlimit> {
    let seconds = limits.wall.as_secs().saturating_add(2);
    let mut list: Vec<Rlimit> = vec![
        (libc::RLIMIT_CORE as i32, 0),
        (libc::RLIMIT_DATA as i32, limits.memory),
        (libc::RLIMIT_AS as i32, limits.memory.saturating_mul(4).max(addresses)),
        (libc::RLIMIT_FSIZE as i32, limits.file),
        // Only a backstop: it counts each process by itself, all of its threads together.
        (libc::RLIMIT_CPU as i32, seconds.saturating_mul(4)),
        (libc::RLIMIT_NOFILE as i32, OPEN_FILES),
        (libc::RLIMIT_MEMLOCK as i32, 0),
    ];
    #[cfg(target_os = "linux")]
    list.push((libc::RLIMIT_MSGQUEUE as i32, 0));
    if let Some(running) = running {
        list.push((libc::RLIMIT_NPROC as i32, running.saturating_add(limits.processes)));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_limit_counts_what_already_runs() {
        let limits = Limits::default();
        let list = rlimits(&limits, 0, Some(100));
        assert!(list.contains(&(libc::RLIMIT_NPROC as i32, 100 + limits.processes)));
        assert!(!rlimits(&limits, 0, None).iter().any(|(resource, _)| *resource == libc::RLIMIT_NPROC as i32));
    }
}
