//! How far a program is isolated, in steps, and what each step is made of.

use serde::Serialize;

/// The steps, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Own namespaces with an own root folder, in which the user's files do not exist; inside it all kernel
    /// rules.
    Full,
    /// Own namespaces for processes and network, without mounts; inside them all kernel rules.
    Namespaces,
    /// Landlock and seccomp, or what the system has of that kind.
    KernelRules,
    /// Limits only.
    None,
}

impl Tier {
    /// Its name on the screen and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Full => "full",
            Tier::Namespaces => "namespaces",
            Tier::KernelRules => "kernel rules",
            Tier::None => "none",
        }
    }

    /// True if a program gets process numbers and a network of its own.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has namespaces"))]
    pub fn has_namespaces(self) -> bool {
        matches!(self, Tier::Full | Tier::Namespaces)
    }
}
