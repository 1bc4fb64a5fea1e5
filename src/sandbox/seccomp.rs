//! The system-call filter. Allows everything except calls that bypass the file rules, leave the process
//! group, or use the network. In the tier "full", whose network is the run's own, TCP and UDP are allowed.
//!
//! A deny list, because toolchains differ too much for an allow list. A denied call fails with EPERM.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::tier::Tier;

/// The first Landlock version that keeps signals inside the sandbox.
const SCOPED_SIGNALS: u32 = 6;

// Newer calls, which have the same number on all processor families.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const OPEN_TREE_ATTR: libc::c_long = 467;
const FILE_SETATTR: libc::c_long = 469;

/// The first Landlock version with a separate right to truncate.
const TRUNCATION: u32 = 3;

/// `kexec_file_load`, which libc lacks for one target.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: libc::c_long = 294;
#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: libc::c_long = libc::SYS_kexec_file_load;

/// Calls that are refused whatever their arguments.
const DENIED: &[libc::c_long] = &[
    // A second way into most other calls, past this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    // A process that left the process group would survive the kill that ends a run.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Kernel machinery.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_personality,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_fanotify_init,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Memory and queues that outlive the process or escape its limits.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Resources that are counted for the whole machine, or for all programs of the user.
    libc::SYS_io_setup,
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_mark,
    // Owner and attributes of files: the file rules say nothing about them, so the user's files would be open
    // to them.
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Calls of sockets, refused where the network is not the run's own.
const SOCKETS: &[libc::c_long] =
    &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4];

/// Options of sockets that are refused, each with its level: larger buffers and reserved memory, which are
/// charged to no process, and programs and protocols inside the kernel.
const OPTIONS: &[(i32, i32)] = &[
    (libc::SOL_SOCKET, libc::SO_SNDBUFFORCE),
    (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE),
    (libc::SOL_SOCKET, SO_RESERVE_MEM),
    (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER),
    (libc::SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF),
    (libc::SOL_TCP, libc::TCP_ULP),
    (libc::SOL_UDP, UDP_ENCAP),
];
// Of asm-generic/socket.h and linux/udp.h.
const SO_ATTACH_REUSEPORT_CBPF: i32 = 51;
const SO_RESERVE_MEM: i32 = 73;
const UDP_ENCAP: i32 = 100;

/// Options of sockets that succeed without effect: programs set them and do not need them.
const IGNORED: &[(i32, i32)] = &[(libc::SOL_SOCKET, libc::SO_SNDBUF), (libc::SOL_SOCKET, libc::SO_RCVBUF)];

/// Older forms that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[libc::c_long] = &[
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_inotify_init,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[libc::c_long] = &[];

/// Ways to change the mode of a file, each with the place of the mode among its arguments.
const MODES: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
];

/// Ways to make a file, each with the places of the flags, where it has some, and of the mode.
const MAKING: &[(libc::c_long, Option<u8>, u8)] = &[
    (libc::SYS_openat, Some(2), 3),
    (libc::SYS_mknodat, None, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Some(1), 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, None, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, None, 1),
];

/// Ways to change the times of a file.
const TIMES: &[libc::c_long] = &[
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Ways to send a signal. Refused outright where Landlock cannot keep signals inside.
const SIGNALS: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
];

/// The filters of a program, in the order to install them, for a kernel with this Landlock version, in this
/// tier.
pub fn filters(landlock_abi: u32, tier: Tier) -> Result<Vec<BpfProgram>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the system-call filter could not be made: {error}");
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| failed(&e))?;
    let rules = rules(landlock_abi, tier).map_err(|e| failed(&e))?;
    let ignored = options(IGNORED).map_err(|e| failed(&e))?;
    let mut filters = vec![shape_filter()?];
    for (rules, error) in [(rules, libc::EPERM), (BTreeMap::from([(libc::SYS_setsockopt, ignored)]), 0)] {
        let action = SeccompAction::Errno(error as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(|e| failed(&e))?;
        filters.push(BpfProgram::try_from(filter).map_err(|e| failed(&e))?);
    }
    Ok(filters)
}

/// Rules that match these options of sockets.
fn options(list: &[(i32, i32)]) -> Result<Vec<SeccompRule>, BackendError> {
    let is = |argument, value: i32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(value as u32))
    };
    list.iter().map(|&(level, option)| SeccompRule::new(vec![is(1, level)?, is(2, option)?])).collect()
}

fn rules(landlock_abi: u32, tier: Tier) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(DENIED_HERE).map(|&number| (number, Vec::new())).collect();
    // In a process namespace there is no other process to signal.
    if landlock_abi < SCOPED_SIGNALS && !tier.has_namespaces() {
        rules.extend(SIGNALS.iter().map(|&number| (number, Vec::new())));
    }
    let condition = SeccompCondition::new;
    let word = SeccompCmpArgLen::Dword;
    let any_bit = |argument, bits: i32| -> Result<Vec<SeccompRule>, _> {
        (0..32)
            .map(|shift| 1_u64 << shift)
            .filter(|bit| u64::from(bits as u32) & bit != 0)
            .map(|bit| SeccompRule::new(vec![condition(argument, word.clone(), SeccompCmpOp::MaskedEq(bit), bit)?]))
            .collect()
    };
    // The file rules say nothing about modes and times. In the tier "full" read-only files are mounted
    // read-only. In other tiers the user's files would be open to them. Set-user-id bits are always refused.
    for &(number, argument) in MODES {
        let set_id = any_bit(argument, (libc::S_ISUID | libc::S_ISGID) as i32)?;
        rules.insert(number, if tier == Tier::Full { set_id } else { Vec::new() });
    }
    // Without such a flag there is no mode, only a leftover value in the register.
    let made = u64::from((libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) as u32);
    for &(number, flags, mode) in MAKING {
        for bit in [libc::S_ISUID, libc::S_ISGID].map(u64::from) {
            let has_bit = || condition(mode, word.clone(), SeccompCmpOp::MaskedEq(bit), bit);
            let flag = |flag| condition(flags.unwrap_or_default(), word.clone(), SeccompCmpOp::MaskedEq(flag), flag);
            let list: &mut Vec<SeccompRule> = rules.entry(number).or_default();
            match flags {
                None => list.push(SeccompRule::new(vec![has_bit()?])?),
                Some(_) => {
                    for one in (0..32).map(|shift| 1_u64 << shift).filter(|one| made & one != 0) {
                        list.push(SeccompRule::new(vec![has_bit()?, flag(one)?])?);
                    }
                }
            }
        }
    }
    let none_of = |argument, values: &[i32]| {
        let differs = |value: &i32| condition(argument, word.clone(), SeccompCmpOp::Ne, u64::from(*value as u32));
        SeccompRule::new(values.iter().map(differs).collect::<Result<_, _>>()?)
    };
    // The kind of a socket, without its flags.
    let other_kinds = |kinds: [i32; 2]| {
        (0..16)
            .filter(move |kind| !kinds.contains(kind))
            .map(|kind| SeccompRule::new(vec![condition(1, word.clone(), SeccompCmpOp::MaskedEq(0xf), kind as u64)?]))
    };
    if tier == Tier::Full {
        let mut others = vec![none_of(0, &[libc::AF_INET, libc::AF_INET6, libc::AF_UNIX])?];
        others.push(none_of(2, &[0, libc::IPPROTO_TCP, libc::IPPROTO_UDP])?);
        others.extend(other_kinds([libc::SOCK_STREAM, libc::SOCK_DGRAM]).collect::<Result<Vec<_>, _>>()?);
        rules.insert(libc::SYS_socket, others);
    } else {
        rules.extend(SOCKETS.iter().map(|&number| (number, Vec::new())));
    }
    // A pair connects to no other process, unless datagrams can be sent to any address.
    let mut pairs = vec![none_of(0, &[libc::AF_UNIX])?];
    pairs.extend(other_kinds([libc::SOCK_STREAM, libc::SOCK_SEQPACKET]).collect::<Result<Vec<_>, _>>()?);
    rules.insert(libc::SYS_socketpair, pairs);
    rules.insert(libc::SYS_setsockopt, options(OPTIONS)?);
    if tier != Tier::Full {
        rules.extend(TIMES.iter().map(|&number| (number, Vec::new())));
    }
    if landlock_abi < TRUNCATION && tier != Tier::Full {
        // A read-only file could be emptied by its name, or by opening it "for reading" with O_TRUNC.
        let emptying = |argument| -> Result<Vec<SeccompRule>, _> {
            let (truncate, both) = (libc::O_TRUNC as u64, (libc::O_TRUNC | libc::O_ACCMODE) as u64);
            let operator = SeccompCmpOp::MaskedEq(both);
            Ok(vec![SeccompRule::new(vec![condition(argument, word.clone(), operator, truncate)?])?])
        };
        rules.insert(libc::SYS_truncate, Vec::new());
        rules.entry(libc::SYS_openat).or_default().extend(emptying(2)?);
        #[cfg(target_arch = "x86_64")]
        rules.entry(libc::SYS_open).or_default().extend(emptying(1)?);
    }
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    rules.insert(libc::SYS_clone, any_bit(0, namespaces)?);
    let others = || -> Result<Vec<SeccompRule>, _> {
        Ok(vec![SeccompRule::new(vec![condition(0, word.clone(), SeccompCmpOp::Ne, 0)?])?])
    };
    // A process may change limits and scheduling of itself, but not of the user's other programs.
    for number in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(number, others()?);
    }
    // Refuses typing into the user's terminal.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].into_iter().map(|request| {
        SeccompRule::new(vec![condition(1, word.clone(), SeccompCmpOp::Eq, u64::from(request as u32))?])
    });
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// The first filter. Calls of another architecture kill the program. Three kinds of calls fail with ENOSYS:
/// x32 numbers of x86-64, `clone3`, and `openat2`. The flags of the latter two lie in memory that a filter
/// cannot read, so libraries fall back to `clone` and `openat`.
fn shape_filter() -> Result<BpfProgram, String> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    /// Bit 30 of a call number marks x32. No real number of either family is that large.
    const X32: u32 = 0x4000_0000;
    // AUDIT_ARCH_* of linux/audit.h.
    let arch: u32 = match std::env::consts::ARCH {
        "x86_64" => 0xC000_003E,
        "aarch64" => 0xC000_00B7,
        other => return Err(format!("no system-call filter for the processor family {other}")),
    };
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    Ok(vec![
        step(LOAD, 0, 0, 4),
        step(EQUAL, 1, 0, arch),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, 0),
        step(AT_LEAST, 2, 0, X32),
        step(EQUAL, 1, 0, libc::SYS_clone3 as u32),
        step(EQUAL, 0, 1, libc::SYS_openat2 as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_refused_only_where_the_kernel_cannot_scope_them() {
        let refuses = |abi, tier| rules(abi, tier).unwrap().contains_key(&libc::SYS_kill);
        assert!(refuses(5, Tier::KernelRules) && !refuses(6, Tier::KernelRules));
        assert!(!refuses(0, Tier::Full) && !refuses(1, Tier::Namespaces));
    }

    #[test]
    fn modes_and_times_can_be_changed_only_where_other_files_are_mounted_read_only() {
        let rules = |tier| rules(7, tier).unwrap();
        for &(number, _) in MODES {
            // Allowed under conditions only, of which the mode is one.
            assert!(!rules(Tier::Full)[&number].is_empty() && rules(Tier::Namespaces)[&number].is_empty());
        }
        for number in TIMES {
            assert!(!rules(Tier::Full).contains_key(number) && rules(Tier::KernelRules)[number].is_empty());
        }
    }

    #[test]
    fn emptying_files_is_refused_where_the_kernel_has_no_right_for_it() {
        let refuses = |abi, tier| rules(abi, tier).unwrap().contains_key(&libc::SYS_truncate);
        assert!(refuses(2, Tier::KernelRules) && !refuses(3, Tier::KernelRules));
        assert!(refuses(2, Tier::Namespaces) && !refuses(0, Tier::Full));
    }

    #[test]
    fn filters_compile() {
        for abi in 1..8 {
            for tier in [Tier::Full, Tier::KernelRules] {
                assert_eq!(filters(abi, tier).unwrap().len(), 3);
            }
        }
    }
}
