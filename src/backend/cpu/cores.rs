//! How many threads to compute with.

use std::collections::BTreeSet;
use std::path::Path;

/// Threads that the process may use, but not more than the machine has cores: two threads of one core share
/// the arithmetic units that this backend keeps busy. Where some cores are slower than others only the fast
/// ones count: every layer waits for the slowest thread.
pub fn sensible() -> usize {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    fast_cores(Path::new("/sys/devices")).map_or(available, |cores| available.min(cores))
}

/// Fast physical cores, by what Linux says of its processors below `devices`.
fn fast_cores(devices: &Path) -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(devices.join(path)).ok();
    // Intel's hybrid processors name their performance cores.
    let performance = read("cpu_core/cpus").map(|list| numbers(&list));
    let of = |cpu: usize| {
        let siblings = read(&format!("system/cpu/cpu{cpu}/topology/thread_siblings_list"))?;
        // Arm's say how fast each core is, 1024 being the fastest.
        let capacity = read(&format!("system/cpu/cpu{cpu}/cpu_capacity")).and_then(|text| text.trim().parse().ok());
        Some((cpu, siblings, capacity.unwrap_or(0u32)))
    };
    let cpus: Vec<_> = (0..).map_while(of).collect();
    let fastest = cpus.iter().map(|(_, _, capacity)| *capacity).max()?;
    let is_fast = |cpu: usize, capacity: u32| {
        performance.as_ref().is_none_or(|list| list.contains(&cpu)) && 4 * capacity >= 3 * fastest
    };
    let cores: BTreeSet<&String> =
        cpus.iter().filter(|(cpu, _, capacity)| is_fast(*cpu, *capacity)).map(|(_, siblings, _)| siblings).collect();
    (!cores.is_empty()).then_some(cores.len())
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> BTreeSet<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose processors have these siblings and capacities.
    fn machine(cpus: &[(&str, Option<u32>)], performance: Option<&str>) -> Option<usize> {
        let devices = tempfile::tempdir().expect("a folder");
        let write = |path: String, text: &str| {
            let path = devices.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        for (cpu, (siblings, capacity)) in cpus.iter().enumerate() {
            write(format!("system/cpu/cpu{cpu}/topology/thread_siblings_list"), siblings);
            if let Some(capacity) = capacity {
                write(format!("system/cpu/cpu{cpu}/cpu_capacity"), &capacity.to_string());
            }
        }
        if let Some(list) = performance {
            write("cpu_core/cpus".to_owned(), list);
        }
        fast_cores(devices.path())
    }

    #[test]
    fn two_threads_of_a_core_are_one() {
        assert_eq!(machine(&[("0,2", None), ("1,3", None), ("0,2", None), ("1,3", None)], None), Some(2));
        assert_eq!(machine(&[], None), None);
    }

    #[test]
    fn slow_cores_do_not_count() {
        let intel = [("0-1", None), ("0-1", None), ("2-3", None), ("2-3", None), ("4", None), ("5", None)];
        assert_eq!(machine(&intel, Some("0-3\n")), Some(2));
        let arm = [("0", Some(446)), ("1", Some(446)), ("2", Some(871)), ("3", Some(1024))];
        assert_eq!(machine(&arm, None), Some(2));
    }

    #[test]
    fn lists_of_processors() {
        assert_eq!(numbers("0-2,7\n"), [0, 1, 2, 7].into());
        assert_eq!(numbers("what"), BTreeSet::new());
    }
}
