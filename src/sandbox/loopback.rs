//! The loopback interface of a run with a network of its own, and the name of its host. Raw system calls
//! only.

use std::ffi::CStr;
use std::io;

use super::check;
use super::child::write_file;

/// Buffers of a TCP socket, bytes: least, first, most. The usual most, 4 to 32 MiB, would be charged to no
/// process.
const BUFFERS: [(&CStr, &CStr); 2] =
    [(c"/proc/sys/net/ipv4/tcp_rmem", c"4096 131072 212992"), (c"/proc/sys/net/ipv4/tcp_wmem", c"4096 16384 212992")];

/// Names the host, else the name of the user's machine would be seen.
pub fn name_host() -> io::Result<()> {
    let name = c"localhost";
    // SAFETY: a static string and its length.
    check(unsafe { libc::sethostname(name.as_ptr(), name.count_bytes()) })
}

/// Bounds the buffers, then brings the interface up.
pub fn bring_up() -> io::Result<()> {
    for (file, sizes) in BUFFERS {
        write_file(file, sizes)?;
    }
    // SAFETY: a live request with the name of an interface; the descriptor is closed again.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket)?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let done = check(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request));
        libc::close(socket);
        done
    }
}
