//! The child between fork and exec: all protections are set up, by raw system calls only.
//!
//! Between the fork of a program with many threads and the exec only async-signal-safe calls are allowed: no
//! allocation, no locks. All that needs either is prepared in [`Plan`] by the parent.

#[cfg(target_os = "linux")]
use std::ffi::CStr;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;

use super::check;
use super::limits::Rlimit;
use super::report::Message;

/// Protections that the child sets up, and its task. Everything is ready to use: nothing is computed after
/// the fork.
pub struct Plan {
    /// Which session it runs in.
    pub session: Session,
    /// Limits, in the order to set them.
    pub rlimits: Vec<Rlimit>,
    /// Standard input, output and error of the program; its own ones if `None`.
    pub streams: Option<[OwnedFd; 3]>,
    /// Descriptors that stay open across exec, besides the standard ones.
    pub keep: Vec<OwnedFd>,
    /// Rules of the kernel; `None` is no isolation.
    #[cfg(target_os = "linux")]
    pub confinement: Option<Confinement>,
    /// `cgroup.procs` of a control group for the program, though not for the init process.
    #[cfg(target_os = "linux")]
    pub cgroup: Option<OwnedFd>,
    /// Task after that.
    pub task: Task,
}

/// Namespaces to live in, if any, and the kernel's rules.
#[cfg(target_os = "linux")]
pub struct Confinement {
    pub namespaces: Option<super::namespaces::Namespaces>,
    /// The Landlock ruleset, where the kernel has Landlock.
    pub landlock: Option<OwnedFd>,
    /// See [`super::Job::sees_own_map`].
    pub sees_own_map: bool,
    /// System-call filters, in the order to install them.
    pub filters: Vec<seccompiler::BpfProgram>,
}

#[cfg(target_os = "linux")]
impl Plan {
    /// The namespaces to make.
    pub fn namespaces(&self) -> Option<&super::namespaces::Namespaces> {
        self.confinement.as_ref()?.namespaces.as_ref()
    }
}

/// Descriptors and mappings of the parent that the child needs.
pub struct Parent {
    /// Where messages go.
    pub report: RawFd,
    /// A pipe that ends when the parent does.
    #[cfg(target_os = "linux")]
    pub lifeline: RawFd,
    /// Large parts of memory, as start and end, for the init process to unmap: as a copy of this program it
    /// would keep them for as long as the program runs.
    #[cfg(target_os = "linux")]
    pub mappings: Vec<(usize, usize)>,
}

/// The session a program runs in, with its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// One of its own, with the share of the cores that any of the user's has.
    Own,
    /// One of its own, with a lower priority.
    Low,
    /// This program's, as one of its own would get its own share of the cores; with a lower priority, and
    /// before long at idle priority.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems have no idle priority"))]
    Shared,
}

/// A lower priority, as `nice` counts.
pub const NICE: i32 = 10;

/// Task of the child.
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

/// The steps, for messages about the one that failed.
const STAGES: &[&str] = &[
    "own session", "end with the parent", "user number", "own root folder", "init process", "limits",
    "inherited files", "no new privileges", "dropping capabilities", "file rules", "system-call filter",
    "starting the program", "control group", "host name",
];

/// The name of a stage by the number the child reported.
pub fn stage_name(number: u8) -> &'static str {
    STAGES.get(usize::from(number)).copied().unwrap_or("start")
}

/// Runs the child. Async-signal-safe. On failure the stage's number and the error are reported.
pub fn run(plan: &Plan, parent: &Parent) -> ! {
    let mut stage = 0_u8;
    if let Err(error) = set_up(plan, parent, &mut stage) {
        Message::Failed { stage, error: error.raw_os_error().unwrap_or(0) }.send(parent.report);
    }
    // SAFETY: ends the process at once, without running anything that belongs to the program it is a copy of.
    unsafe { libc::_exit(127) }
}

#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "only the init process has a use for the parent")
)]
fn set_up(plan: &Plan, parent: &Parent, stage: &mut u8) -> io::Result<()> {
    // SAFETY: these take and return plain numbers or get a live signal set, and are async-signal-safe.
    unsafe {
        check(if plan.session == Session::Shared { libc::setpgid(0, 0) } else { libc::setsid() })?;
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
        prepare(plan, parent.report)?;
        // SAFETY: plain numbers. Old kernels lack the call; all descriptors of this program are close-on-exec
        // anyway.
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        split_off_init(plan, parent, stage)?;
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
    if let Some(confinement) = &plan.confinement {
        restrict(confinement, stage)?;
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

/// Steps before anything else.
#[cfg(target_os = "linux")]
fn prepare(plan: &Plan, report: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers, a live array, a static string; all calls are async-signal-safe.
    unsafe {
        if plan.namespaces().is_some() {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        }
        // The parent may have died before the line above. In a namespace its number cannot be asked for, but
        // its end of the pipe can.
        let mut pipe = [libc::pollfd { fd: report, events: 0, revents: 0 }];
        libc::poll(pipe.as_mut_ptr(), 1, 0);
        if pipe[0].revents & libc::POLLERR != 0 {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    if plan.session != Session::Own {
        lower_priority();
    }
    if plan.session == Session::Low {
        // Where sessions have shares. The kernel takes few such wishes a second; the parent repeats it.
        let _ = write_file(c"/proc/self/autogroup", c"10");
    }
    // When the machine's memory runs out, this process is the first to go. Raising is always allowed.
    let _ = write_file(c"/proc/self/oom_score_adj", c"1000");
    Ok(())
}

/// Other work comes first. The system may refuse.
#[cfg(target_os = "linux")]
fn lower_priority() {
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
    // Slices of 0.1 ms (in ns), since Linux 6.12: threads that wait for each other many times in a
    // millisecond would else all be held up by one usual slice of 3 ms.
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

/// Writes to a file of the kernel.
#[cfg(target_os = "linux")]
pub fn write_file(path: &CStr, text: &CStr) -> io::Result<()> {
    // SAFETY: live strings; the length is that of the text.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(fd)?;
        let result = check(libc::write(fd, text.as_ptr().cast(), text.count_bytes()) as i32);
        libc::close(fd);
        result
    }
}

/// Enters the namespaces, if any, and forks: this process becomes the init process and never returns, its
/// child goes on.
#[cfg(target_os = "linux")]
fn split_off_init(plan: &Plan, parent: &Parent, stage: &mut u8) -> io::Result<()> {
    use super::layout::Step;
    use super::{init, landlock, loopback, root, spawn};
    let root = plan.namespaces().and_then(|namespaces| namespaces.root.as_ref());
    if plan.namespaces().is_some() {
        *stage = 13;
        loopback::name_host()?;
    }
    if let Some(root) = root {
        *stage = 2;
        root.user.map()?;
        // Where the kernel's settings are read-only, the interface stays down.
        let _ = loopback::bring_up();
        *stage = 3;
        // SAFETY: umask takes a plain number.
        unsafe { libc::umask(0) };
        let has_proc = root::build(&root.steps)?;
        // The `/proc` of the new root did not exist when the rules were made. Its files stay closed: memory,
        // environment and command line of every process would lie open in them.
        if let Some(rules) = plan.confinement.as_ref().and_then(|all| all.landlock.as_ref()) {
            let add = |path: &CStr, access| landlock::add(rules.as_raw_fd(), path, access);
            if has_proc {
                add(c"/proc", landlock::READ_DIR)?;
            }
            add(c"/etc", landlock::READ_FILE | landlock::READ_DIR)?;
            for step in &root.steps {
                if let Step::Memory { at, .. } = step {
                    add(at, root.in_memory)?;
                }
            }
        }
        // SAFETY: as above.
        unsafe { libc::umask(0o077) };
    }
    *stage = 4;
    // Nobody may look into or steer the init process, which is a copy of this program.
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) })?;
    // SAFETY: getpid takes nothing and cannot fail.
    let itself = unsafe { libc::getpid() };
    let child = spawn::fork(0)?;
    if child != 0 {
        init::reap(child, parent);
    }
    // SAFETY: plain numbers.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0))?;
        // The init process may have died before the line above.
        if libc::getppid() != itself {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    if let Some(cgroup) = &plan.cgroup {
        *stage = 12;
        // SAFETY: a descriptor that the plan owns, a live string and its length. `0` stands for whoever
        // writes it.
        check(unsafe { libc::write(cgroup.as_raw_fd(), c"0".as_ptr().cast(), 1) } as i32)?;
    }
    *stage = 2;
    root.map_or(Ok(()), |root| root.user.switch())
}

/// Sets a limit, soft and hard; never above the hard limit there is.
fn lower(resource: i32, value: u64) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit. The resource's type differs between platforms, hence
    // the casts.
    unsafe {
        check(libc::getrlimit(resource as _, &raw mut limit))?;
        limit.rlim_max = limit.rlim_max.min(value as libc::rlim_t);
        limit.rlim_cur = limit.rlim_max;
        check(libc::setrlimit(resource as _, &raw const limit))
    }
}

/// From here on nothing can be gained back: privileges, capabilities, files, system calls.
#[cfg(target_os = "linux")]
fn restrict(confinement: &Confinement, stage: &mut u8) -> io::Result<()> {
    use super::landlock;
    *stage = 7;
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    *stage = 8;
    drop_capabilities()?;
    *stage = 9;
    if let Some(landlock) = &confinement.landlock {
        if confinement.sees_own_map {
            // Where `/proc` is missing the program says so itself.
            let _ = landlock::add(landlock.as_raw_fd(), c"/proc/self/maps", landlock::READ_FILE);
        }
        if confinement.namespaces.as_ref().is_some_and(|namespaces| namespaces.root.is_some()) {
            // Its own mounts: native parts of programs look where a folder lies before they write to it.
            let _ = landlock::add(landlock.as_raw_fd(), c"/proc/self/mountinfo", landlock::READ_FILE);
        }
        // SAFETY: an open ruleset descriptor, owned by the plan, and no flags.
        let done = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, landlock.as_raw_fd(), 0_u32) };
        check(done as i32)?;
    }
    *stage = 10;
    for filter in &confinement.filters {
        let program = libc::sock_fprog {
            len: filter.len() as libc::c_ushort,
            // The kernel only reads it; the two types have the same C layout.
            filter: filter.as_ptr().cast_mut().cast(),
        };
        // SAFETY: `program` and the instructions it points to live across the call; the kernel validates
        // them.
        let done =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const program) };
        check(done as i32)?;
    }
    Ok(())
}

/// Empties all capability sets. Matters when the program runs as root, and in namespaces; elsewhere the sets
/// are empty already.
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
    // SAFETY: plain numbers, and pointers to live values of the layout that capset reads (two sets of three
    // words).
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
    // EINVAL says the last capability was passed, EPERM that there is no right to drop (and so nothing to
    // gain either). SAFETY: plain numbers.
    while number < 64 && unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) } == 0 {
        number += 1;
    }
}
