//! The protection of the user from untrusted programs, for the status line, `doctor` and reports.

use serde::Serialize;

use super::Tier;

/// The protection of the user from untrusted programs, as proved by a real run at start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Protection {
    /// `full`, `namespaces`, `kernel rules` or `none`.
    pub tier: String,
    /// Landlock ABI in force, 0 if none.
    pub landlock_abi: u32,
    /// System calls are filtered (no sockets to elsewhere, no ptrace, …).
    pub seccomp: bool,
    /// Set-user-id programs cannot gain rights.
    pub no_new_privs: bool,
    /// CPU, memory, file and process limits are set.
    pub limits: bool,
    /// One sentence for the status line and `doctor`, with the missing parts and the reasons.
    pub summary: String,
    /// Each layer with its mechanism.
    pub layers: Vec<Layer>,
    /// The better tiers that this machine does not offer, each with the reason.
    pub missing: Vec<String>,
}

/// One layer of the protection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The protected resource: `files`, `network`, …
    pub name: &'static str,
    /// True if it is protected.
    pub holds: bool,
    /// The mechanism, or the reason why there is none.
    pub how: String,
}

/// Result of the test attack.
#[cfg(any(target_os = "linux", test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The tier that held.
    pub tier: Tier,
    /// Landlock version, 0 if there is none.
    pub landlock_abi: u32,
    /// The kernel counts the processes of a program.
    pub counts_processes: bool,
    /// The program runs as another user, as this one is root.
    pub is_other_user: bool,
}

impl Layer {
    /// The layer of control groups, or the reason why there are none.
    #[cfg(target_os = "linux")]
    pub(super) fn control_groups(found: Result<String, &String>) -> Self {
        let holds = found.is_ok();
        Self { name: "control groups", holds, how: found.unwrap_or_else(|why| format!("not used: {why}")) }
    }
}

impl Protection {
    /// Returns true if a program can reach neither files nor network. Otherwise the user has to be asked
    /// first.
    pub fn is_isolated(&self) -> bool {
        let closed = self.landlock_abi > 0 || self.tier == Tier::Full.name();
        let has_profile = cfg!(target_os = "macos") && self.tier == Tier::KernelRules.name();
        (closed && self.seccomp && self.no_new_privs) || has_profile
    }

    /// The protection that follows from a proof. `missing` are the better tiers that are not available, with
    /// the reasons.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn proved(proof: Proof, missing: Vec<String>) -> Self {
        let Proof { tier, landlock_abi, counts_processes, is_other_user } = proof;
        let has = tier.has_namespaces();
        let apart = if has { "files, network, processes" } else { "files, network, signals" };
        let watched = if counts_processes { "memory limit" } else { "memory and process limits" };
        let landlock = if landlock_abi > 0 { format!("Landlock ABI {landlock_abi}") } else { "no Landlock".to_owned() };
        let layer = |name, how: String| Layer { name, holds: true, how };
        let layers = vec![
            layer("files", if tier == Tier::Full { format!("a root folder of its own; {landlock}") } else { landlock }),
            layer(
                "network",
                match tier {
                    Tier::Full => "a loopback interface of its own; no way out".to_owned(),
                    Tier::Namespaces => "sockets are refused; a network of its own without a way out".to_owned(),
                    _ => "sockets are refused".to_owned(),
                },
            ),
            layer(
                "processes",
                if has {
                    "numbers of its own; all end with the first one".to_owned()
                } else {
                    "kept in one group that ends as a whole".to_owned()
                },
            ),
            layer("system calls", "filtered".to_owned()),
            layer("rights", "none, and none can be gained".to_owned()),
            layer("memory", "limited for each process by the kernel, for all together by watching".to_owned()),
            layer(
                "process count",
                match (counts_processes, is_other_user) {
                    (true, false) => "limited by the kernel and by watching".to_owned(),
                    (true, true) => {
                        "limited by the kernel and by watching; by watching only where a program has folders of root's"
                            .to_owned()
                    }
                    (false, _) => {
                        "limited by watching only: the kernel does not count the processes of root".to_owned()
                    }
                },
            ),
        ];
        Self {
            tier: tier.name().to_owned(),
            landlock_abi,
            seccomp: true,
            no_new_privs: true,
            limits: true,
            summary: format!("sandbox: {} ({apart}); {watched} by watching", tier.name()),
            layers,
            missing,
        }
    }

    /// Notes that the kernel limits a program's resources as a whole.
    #[cfg(target_os = "linux")]
    pub(super) fn count_by_groups(&mut self, memory: bool, processes: bool) {
        for layer in &mut self.layers {
            if (layer.name == "memory" && memory) || (layer.name == "process count" && processes) {
                "limited by a control group and by watching".clone_into(&mut layer.how);
            }
        }
    }

    /// The protection by a macOS profile.
    #[cfg(target_os = "macos")]
    pub(super) fn profile() -> Self {
        let layer = |name, how: &str| Layer { name, holds: true, how: how.to_owned() };
        Self {
            tier: Tier::KernelRules.name().to_owned(),
            limits: true,
            summary: "sandbox: kernel rules (files, network, signals); memory and process limits by watching"
                .to_owned(),
            layers: vec![
                layer("files", "a deny-default profile"),
                layer("network", "denied by the profile"),
                layer("processes", "kept in one group that ends as a whole"),
                layer("memory", "limited for each process by the kernel, for all together not at all"),
            ],
            ..Self::default()
        }
    }

    /// No isolation, only limits, and the reason.
    pub(super) fn none(reason: &str, missing: Vec<String>) -> Self {
        let open = |name| Layer { name, holds: false, how: "not protected".to_owned() };
        let limits = Layer {
            name: "limits",
            holds: true,
            how: "time, memory, files, processes; for each process and by watching".to_owned(),
        };
        Self {
            tier: Tier::None.name().to_owned(),
            limits: true,
            summary: format!("no sandbox: {reason}; programs could read your files and use the network"),
            layers: vec![open("files"), open("network"), open("processes"), limits],
            missing,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proved(tier: Tier, landlock_abi: u32, counts_processes: bool) -> Protection {
        let is_other_user = false;
        Protection::proved(Proof { tier, landlock_abi, counts_processes, is_other_user }, Vec::new())
    }

    #[test]
    fn one_sentence_says_what_holds() {
        let cases = [
            (Tier::Full, true, "sandbox: full (files, network, processes); memory limit by watching"),
            (Tier::Namespaces, true, "sandbox: namespaces (files, network, processes); memory limit by watching"),
            (
                Tier::KernelRules,
                false,
                "sandbox: kernel rules (files, network, signals); memory and process limits by watching",
            ),
        ];
        for (tier, counts, sentence) in cases {
            let protection = proved(tier, 7, counts);
            assert_eq!(protection.summary, sentence);
            assert!(protection.is_isolated());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn control_groups_stand_for_what_they_count() {
        let mut protection = proved(Tier::KernelRules, 7, false);
        protection.count_by_groups(false, true);
        let how = |name| protection.layers.iter().find(|layer| layer.name == name).unwrap().how.as_str();
        assert_eq!(how("process count"), "limited by a control group and by watching");
        assert_eq!(how("memory"), "limited for each process by the kernel, for all together by watching");
    }

    #[test]
    fn without_landlock_only_a_root_folder_isolates() {
        assert!(proved(Tier::Full, 0, true).is_isolated());
        assert!(!Protection::none("why", Vec::new()).is_isolated());
        assert!(!Protection::default().is_isolated());
    }
}
