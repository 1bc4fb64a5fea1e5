//! Memory that kernels read: our own, zero at first, or a file that is mapped.

use std::alloc::{Layout, alloc_zeroed};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use memmap2::Mmap;

use crate::backend::plain::Plain;

/// Memory of our own. Numbers are zero until they are written, and pages of them that are never touched take
/// neither memory nor time; those of weights are touched first by all threads of the pool.
pub struct Zeroed<T> {
    bytes: Box<[u8]>,
    /// First byte at which a number may stand.
    at: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Plain> Zeroed<T> {
    fn none() -> Self {
        Self { bytes: Box::default(), at: 0, len: 0, of: PhantomData }
    }

    /// Like [`new`](Self::new), in large pages where the system has them: for weights, which are written once
    /// and then read from end to end at every step. Steps take 5 to 7 % less (medians of `Q4_0` with one and
    /// eight rows).
    pub fn weights(len: usize) -> Result<Self, usize> {
        let zeroed = Self::new(len)?;
        in_large_pages(&zeroed.bytes);
        Ok(zeroed)
    }

    /// `len` zeros, or the number of bytes for which there is no memory.
    pub fn new(len: usize) -> Result<Self, usize> {
        let bytes = len.saturating_mul(size_of::<T>());
        // An allocation that asks for the alignment would be cleared here, by this one thread: the allocator
        // takes pages that are zero already only for alignments that it gives to all.
        let room = bytes.saturating_add(align_of::<T>() - 1);
        let layout = Layout::array::<u8>(room).map_err(|_| bytes)?;
        if bytes == 0 {
            return Ok(Self::none());
        }
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            return Err(bytes);
        }
        let at = memory.align_offset(align_of::<T>());
        // SAFETY: allocated above by the global allocator for exactly `room` bytes, which are zero.
        let bytes = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, room)) };
        Ok(Self { bytes, at, len, of: PhantomData })
    }
}

impl<T: Plain> Deref for Zeroed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `len` numbers lie behind the aligned byte `at`, and any bytes are a value.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(self.at).cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Zeroed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as above, and nobody else has the memory.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().add(self.at).cast(), self.len) }
    }
}

/// Below that, pages are too few to matter.
const LARGE: usize = 1 << 20;

/// Asks the system to back these bytes with large pages, which it may decline. Neighbouring matrices share
/// pages, so the borders are rounded outwards.
fn in_large_pages(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    if bytes.len() >= LARGE {
        let page = rustix::param::page_size();
        let from = bytes.as_ptr().addr() / page * page;
        let to = (bytes.as_ptr().addr() + bytes.len()).next_multiple_of(page);
        // SAFETY: advice on how pages are backed changes nothing of what is in them, whosever they are.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (bytes, LARGE);
}

/// Memory of our own, or of a mapped file.
pub struct Memory<T>(Place<T>);

enum Place<T> {
    Own(Zeroed<T>),
    Mapped { file: Arc<Mmap>, at: usize, len: usize },
}

impl<T> From<Zeroed<T>> for Memory<T> {
    fn from(own: Zeroed<T>) -> Self {
        Self(Place::Own(own))
    }
}

impl<T: Plain> Memory<T> {
    /// No numbers.
    pub fn none() -> Self {
        Zeroed::none().into()
    }

    /// `len` numbers from byte `at` of a file on; `None` where it ends before.
    pub fn mapped(file: &Arc<Mmap>, at: usize, len: usize) -> Option<Self> {
        let bytes = file.get(at..at.checked_add(len.checked_mul(size_of::<T>())?)?)?;
        let aligned = bytes.as_ptr().cast::<T>().is_aligned();
        aligned.then(|| Self(Place::Mapped { file: Arc::clone(file), at, len }))
    }
}

impl<T: Plain> Deref for Memory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Own(own) => own,
            Place::Mapped { file, at, len } => {
                // SAFETY: inside the file and aligned (checked by `mapped`), mapped as long as `self` lives,
                // and any bytes are a value.
                unsafe { std::slice::from_raw_parts(file.as_ptr().add(*at).cast(), *len) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(C, align(64))]
    struct Line([u8; 64]);
    // SAFETY: plain bytes.
    unsafe impl Plain for Line {}

    #[test]
    fn own_memory_is_zero_and_aligned_at_every_size() {
        for len in [0, 1, 3, 1000, 100_000] {
            let mut memory = Zeroed::<Line>::new(len).expect("memory");
            assert_eq!(memory.len(), len);
            assert!(memory.as_ptr().is_aligned());
            assert!(memory.iter().all(|line| line.0 == [0; 64]));
            memory.iter_mut().for_each(|line| line.0 = [1; 64]);
        }
    }

    #[test]
    fn what_no_memory_has_room_for_is_an_error_with_its_bytes() {
        assert_eq!(Zeroed::<Line>::new(usize::MAX / 64).err(), Some(usize::MAX / 64 * 64));
        assert_eq!(Zeroed::<Line>::new(usize::MAX).err(), Some(usize::MAX));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn weights_ask_for_large_pages() {
        let memory = Zeroed::<Line>::weights(1 << 20).expect("memory");
        let middle = memory.as_ptr().addr() + (1 << 25);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let bounds = |line: &str| {
            let (from, to) = line.split(' ').next()?.split_once('-')?;
            Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
        };
        let mut lines = maps.lines().skip_while(|line| !bounds(line).is_some_and(|range| range.contains(&middle)));
        let flags = lines.find(|line| line.starts_with("VmFlags:"));
        let known = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert!(!known || flags.is_none_or(|flags| flags.split(' ').any(|flag| flag == "hg")), "{flags:?}");
    }

    #[test]
    fn pages_that_are_never_touched_take_no_memory() {
        const BYTES: usize = 1 << 30;
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
            pages.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
        };
        let before = resident();
        let memory = Zeroed::<Line>::new(BYTES / 64).expect("memory");
        if let (Some(before), Some(after)) = (before, resident()) {
            assert!(after < before + BYTES / 2, "{} bytes are resident", after - before);
        }
        assert_eq!(memory[memory.len() - 1].0, [0; 64]);
    }
}
