//! What happens in the child between fork and exec: the protections are put on, one after the other, by raw system calls only.
//!
//! Between the fork of a program with many threads and the exec only async-signal-safe calls are allowed: no allocation, no locks. All
//! that needs either is prepared in [`Plan`] by the parent.

#[cfg(target_os = "linux")]
use std::ffi::CStr;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;

use super::check;
use super::limits::Rlimit;
use super::report::Message;

/// What the child puts on and does. Everything is ready to use: nothing is computed after the fork.
pub struct Plan {
    /// How far it stands back for others.
    pub place: Place,
    /// Limits, in the order to set them.
    pub rlimits: Vec<Rlimit>,
    /// Standard input, output and error of the program; its own ones if `None`.
    pub streams: Option<[OwnedFd; 3]>,
    /// Descriptors that stay open across exec, besides the standard ones.
    pub keep: Vec<OwnedFd>,
    /// A pipe that ends when this program does; put in at the fork, like `ballast`.
    #[cfg(target_os = "linux")]
    pub leash: Option<OwnedFd>,
    /// Large parts of memory, as start and end, that the first process gives back: it is a copy of this program and lives as long as the
    /// trial, while this program goes on writing.
    #[cfg(target_os = "linux")]
    pub ballast: Vec<(usize, usize)>,
    /// Namespaces to live in.
    #[cfg(target_os = "linux")]
    pub namespaces: Option<super::namespaces::Namespaces>,
    /// The kernel's rules; `None` runs without isolation.
    #[cfg(target_os = "linux")]
    pub rules: Option<Rules>,
    /// What lets the program, though not the first process, into a control group.
    #[cfg(target_os = "linux")]
    pub gate: Option<OwnedFd>,
    /// What to do then.
    pub task: Task,
}

/// How far a trial stands back for the user's own work, the engine above all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a session of its own, with a lower priority than others have.
    Behind,
    /// In this program's session, with a lower priority than others have, and before long only when a core has nothing else to do. A session of
    /// its own would have a share of the cores of its own, too.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems have no such class"))]
    Beside,
}

/// The priority of a trial, as `nice` counts.
pub const NICE: i32 = 10;

/// What the child is there for.
pub enum Task {
    /// To become a program.
    Program(Program),
    /// To try out the protection.
    #[cfg(target_os = "linux")]
    Attack(super::attack::Attack),
}

/// A program to start, with its arguments and environment as the kernel wants them.
pub struct Program {
    path: CString,
    folder: CString,
    arguments: List,
    environment: List,
}

/// Strings, and the list of their addresses that ends with null.
struct List {
    _strings: Vec<CString>,
    addresses: Vec<*const libc::c_char>,
}

impl List {
    fn new(strings: Vec<CString>) -> Self {
        let addresses = strings.iter().map(|s| s.as_ptr()).chain(std::iter::once(std::ptr::null())).collect();
        Self { _strings: strings, addresses }
    }
}

impl Program {
    /// Prepares a program; `environment` is all it gets.
    pub fn new(
        path: OsString,
        arguments: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
        folder: OsString,
    ) -> Result<Self, String> {
        let text = |part: OsString| {
            let shown = part.to_string_lossy().into_owned();
            CString::new(part.into_vec())
                .map_err(|_| format!("{shown:?} holds a NUL byte and cannot be given to a program"))
        };
        let path = text(path)?;
        let arguments = arguments.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let variable = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            text(name)
        };
        let environment = environment.into_iter().map(variable).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            arguments: List::new(std::iter::once(path.clone()).chain(arguments).collect()),
            environment: List::new(environment),
            folder: text(folder)?,
            path,
        })
    }
}

/// The kernel rules of a trial.
#[cfg(target_os = "linux")]
pub struct Rules {
    /// The Landlock ruleset, where the kernel has Landlock.
    pub landlock: Option<OwnedFd>,
    /// System-call filters, in the order to install them.
    pub filters: Vec<seccompiler::BpfProgram>,
}

/// The steps, for messages about the one that failed.
const STAGES: &[&str] = &[
    "own session",
    "end with the parent",
    "user number",
    "own root folder",
    "first process",
    "limits",
    "inherited files",
    "no new privileges",
    "dropping capabilities",
    "file rules",
    "system-call filter",
    "starting the program",
    "control group",
];

/// The name of a stage by the number the child reported.
pub fn stage_name(number: u8) -> &'static str {
    STAGES.get(usize::from(number)).copied().unwrap_or("start")
}

/// The child's life. Async-signal-safe. On failure the stage's number and the error go to `report`.
pub fn live(plan: &Plan, report: RawFd) -> ! {
    let mut stage = 0_u8;
    if let Err(error) = put_on(plan, report, &mut stage) {
        Message::Failed { stage, error: error.raw_os_error().unwrap_or(0) }.send(report);
    }
    // SAFETY: ends the process at once, without running anything that belongs to the program it is a copy of.
    unsafe { libc::_exit(127) }
}

#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only namespaces report more than failures"))]
fn put_on(plan: &Plan, report: RawFd, stage: &mut u8) -> io::Result<()> {
    // SAFETY: these take and return plain numbers or get a live signal set, and are async-signal-safe.
    unsafe {
        check(if plan.place == Place::Behind { libc::setsid() } else { libc::setpgid(0, 0) })?;
        libc::umask(0o077);
        for number in 1..65 {
            // SIGKILL, SIGSTOP and libc's own refuse, which is as well.
            libc::signal(number, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()))?;
    }
    *stage = 1;
    #[cfg(target_os = "linux")]
    {
        prepare(plan, report)?;
        // SAFETY: plain numbers. Old kernels lack the call; all descriptors of this program are close-on-exec anyway.
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        enter(plan, report, stage)?;
        if let Task::Attack(attack) = &plan.task {
            attack.before_the_rules();
        }
    }
    *stage = 5;
    for &(resource, value) in &plan.rlimits {
        lower(resource, value)?;
    }
    *stage = 6;
    for (fd, number) in plan.streams.iter().flatten().zip(0..) {
        stay_open(fd.as_raw_fd(), number)?;
    }
    for fd in &plan.keep {
        stay_open(fd.as_raw_fd(), fd.as_raw_fd())?;
    }
    #[cfg(target_os = "linux")]
    if let Some(rules) = &plan.rules {
        isolate(rules, stage)?;
    }
    *stage = 11;
    match &plan.task {
        Task::Program(program) => start(program),
        #[cfg(target_os = "linux")]
        Task::Attack(attack) => attack.after_the_rules(),
    }
}

/// Becomes the program; returns only when that fails.
fn start(program: &Program) -> io::Result<()> {
    // SAFETY: strings and lists of strings that end as they must, made before the fork.
    unsafe {
        check(libc::chdir(program.folder.as_ptr()))?;
        let (arguments, environment) = (program.arguments.addresses.as_ptr(), program.environment.addresses.as_ptr());
        check(libc::execve(program.path.as_ptr(), arguments, environment))
    }
}

/// Makes a descriptor stay open across exec, as `number`.
fn stay_open(fd: RawFd, number: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers of descriptors that the plan owns.
    check(unsafe { if fd == number { libc::fcntl(fd, libc::F_SETFD, 0) } else { libc::dup2(fd, number) } })
}

/// What the first process of a trial does before anything else.
#[cfg(target_os = "linux")]
fn prepare(plan: &Plan, report: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers, a live array, a static string; all calls are async-signal-safe.
    unsafe {
        if plan.namespaces.is_some() {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        }
        // The parent may have died before the line above. In a namespace its number cannot be asked for, but its end of the pipe can.
        let mut pipe = [libc::pollfd { fd: report, events: 0, revents: 0 }];
        libc::poll(pipe.as_mut_ptr(), 1, 0);
        if pipe[0].revents & libc::POLLERR != 0 {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    step_back();
    if plan.place == Place::Behind {
        // Where sessions have shares. While others wish the same, the parent has to ask again.
        tell(c"/proc/self/autogroup", c"10");
    }
    // When memory runs out on the whole machine, this process is the first to go. Raising is always allowed.
    tell(c"/proc/self/oom_score_adj", c"1000");
    Ok(())
}

/// The user's own work comes first, and the engine above all. It is no fault where the limits of the system say otherwise.
#[cfg(target_os = "linux")]
fn step_back() {
    /// `struct sched_attr` of linux/sched/types.h, in its first version.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    // Turns of a tenth of a millisecond (in ns), where the kernel can (Linux 6.12): threads of the engine wait for each other many times in
    // a millisecond, and the usual turn of three would hold all of them up.
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_BATCH as u32,
        flags: 0,
        nice: NICE,
        priority: 0,
        runtime: 100_000,
        deadline: 0,
        period: 0,
    };
    // SAFETY: plain numbers, and a live value whose size it carries.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

/// Writes a word to a file of the kernel; it is no fault if that fails.
#[cfg(target_os = "linux")]
fn tell(path: &CStr, word: &CStr) {
    // SAFETY: live strings; the length is that of the word.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd >= 0 {
            libc::write(fd, word.as_ptr().cast(), word.count_bytes());
            libc::close(fd);
        }
    }
}

/// Goes on as the second process, in new namespaces if there are any. The first one never returns from here.
#[cfg(target_os = "linux")]
fn enter(plan: &Plan, report: RawFd, stage: &mut u8) -> io::Result<()> {
    use super::{first, namespaces, spawn};
    let root = plan.namespaces.as_ref().and_then(|namespaces| namespaces.root.as_ref());
    if let Some(root) = root {
        *stage = 2;
        namespaces::map_numbers(root)?;
        *stage = 3;
        let landlock = plan.rules.as_ref().and_then(|rules| rules.landlock.as_ref());
        // SAFETY: umask takes a plain number.
        unsafe { libc::umask(0) };
        namespaces::change_root(root, landlock.map(AsRawFd::as_raw_fd))?;
        // SAFETY: as above.
        unsafe { libc::umask(0o077) };
    }
    *stage = 4;
    // Nobody may look into or steer the first process, which is a copy of this program.
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) })?;
    // SAFETY: getpid takes nothing and cannot fail.
    let itself = unsafe { libc::getpid() };
    let child = spawn::fork(0)?;
    if child != 0 {
        first::preside(child, report, plan.leash.as_ref().map_or(-1, AsRawFd::as_raw_fd), &plan.ballast);
    }
    // SAFETY: plain numbers.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        // The first process may have died before the line above.
        if libc::getppid() != itself {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    if let Some(gate) = &plan.gate {
        *stage = 12;
        // SAFETY: a descriptor that the plan owns, a live string and its length. `0` stands for whoever writes it.
        check(unsafe { libc::write(gate.as_raw_fd(), c"0".as_ptr().cast(), 1) } as i32)?;
    }
    *stage = 2;
    root.map_or(Ok(()), |root| root.user.become_it())
}

/// Sets a limit, soft and hard; never above the hard limit there is.
fn lower(resource: i32, value: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit. The resource's type differs between platforms, hence the casts.
    unsafe {
        check(libc::getrlimit(resource as _, &raw mut limit))?;
        limit.rlim_max = limit.rlim_max.min(value as libc::rlim_t);
        limit.rlim_cur = limit.rlim_max;
        check(libc::setrlimit(resource as _, &raw const limit))
    }
}

/// From here on nothing can be gained back: privileges, capabilities, files, system calls.
#[cfg(target_os = "linux")]
fn isolate(rules: &Rules, stage: &mut u8) -> io::Result<()> {
    *stage = 7;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    *stage = 8;
    drop_capabilities()?;
    *stage = 9;
    if let Some(landlock) = &rules.landlock {
        // SAFETY: an open ruleset descriptor, owned by the plan, and no flags.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, landlock.as_raw_fd(), 0_u32) };
        check(done as i32)?;
    }
    *stage = 10;
    for filter in &rules.filters {
        let program = libc::sock_fprog {
            len: filter.len() as libc::c_ushort,
            // The kernel only reads it; the two types have the same C layout.
            filter: filter.as_ptr().cast_mut().cast(),
        };
        // SAFETY: `program` and the instructions it points to live across the call; the kernel validates them.
        let done =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const program) };
        check(done as i32)?;
    }
    Ok(())
}

/// Empties all capability sets. Matters when the program runs as root, and in namespaces; elsewhere the sets are empty already.
#[cfg(target_os = "linux")]
pub fn drop_capabilities() -> io::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h, with its header and data layout.
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    drop_bounding();
    // SAFETY: plain numbers, and pointers to live values of the layout that capset reads (two sets of three words).
    unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong, 0, 0, 0);
        let header = Header { version: VERSION, pid: 0 };
        let none = [0_u32; 6];
        check(libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) as i32)
    }
}

/// Empties what any program started from here could ever get.
#[cfg(target_os = "linux")]
pub fn drop_bounding() {
    let mut number: libc::c_ulong = 0;
    // EINVAL says the last capability was passed, EPERM that there is no right to drop (and so nothing to gain either).
    // SAFETY: plain numbers.
    while number < 64 && unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) } == 0 {
        number += 1;
    }
}
