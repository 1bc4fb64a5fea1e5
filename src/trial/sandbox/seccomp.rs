//! seccomp: system calls the child is refused. A list of refusals, because toolchains are too varied for a list of permissions.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Calls that are refused whatever their arguments: the network, other processes, the kernel, memory that no limit counts, and leaving the
/// process group, which is what makes one kill enough.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
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
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_mq_open,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// From this version on Landlock keeps signals inside.
const SCOPED_SIGNALS: u32 = 6;

/// The filters, in the order they are to be installed.
pub fn filters(landlock_abi: u32) -> io::Result<Vec<BpfProgram>> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    if landlock_abi < SCOPED_SIGNALS {
        for call in
            [libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo]
        {
            refused.insert(call, Vec::new());
        }
    }
    // New namespaces, by any of their flags.
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let flag = |flag: i32| {
        let flag = u64::from(flag as u32);
        rule(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)
    };
    refused.insert(libc::SYS_clone, namespaces.into_iter().map(flag).collect::<io::Result<_>>()?);
    // Typing into the terminal.
    let ioctl = |request: u64| rule(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
    refused.insert(libc::SYS_ioctl, vec![ioctl(libc::TIOCSTI)?, ioctl(libc::TIOCLINUX)?]);

    // The flags of clone3 lie in memory that a filter cannot read; told that there is no such call, libraries use clone.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut filters = vec![filter(refused, libc::EPERM)?, filter(unknown, libc::ENOSYS)?];
    if cfg!(target_arch = "x86_64") {
        filters.push(other_numbering());
    }
    Ok(filters)
}

fn rule(arg: u8, length: SeccompCmpArgLen, op: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
    SeccompCondition::new(arg, length, op, value).and_then(|c| SeccompRule::new(vec![c])).map_err(io::Error::other)
}

/// A filter that answers the calls of `rules` with an error. (It also ends processes of another architecture.)
fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> io::Result<BpfProgram> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), architecture)
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)
}

/// On x86-64 the same calls exist under a second set of numbers (x32), which the rules above do not name: none of it.
fn other_numbering() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let op = |code: u32, jt: u8, jf: u8, k: u32| seccompiler::sock_filter { code: code as u16, jt, jf, k };
    vec![
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Installs a filter on this process. System call only; needs `no_new_privs`.
pub fn enter(filter: &BpfProgram) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut().cast() };
    // SAFETY: the program lives through the call; seccompiler's instructions have the layout of the kernel's.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    super::limits::check(done as i32)
}
