//! Memory that kernels read: our own, zero at first, or a file that is mapped.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use crate::backend::plain::Plain;

/// Memory of our own. Numbers are zero until they are written, and pages of them that are never touched take
/// neither memory nor time; those of weights are touched first by all threads of the pool.
pub struct Zeroed<T> {
    bytes: Bytes,
    /// First byte at which a number may stand.
    at: usize,
    len: usize,
    of: PhantomData<T>,
}

/// Bytes from [`LARGE`] on have pages of their own, which forked children do not get: starting a program
/// costs the same whatever the model weighs.
enum Bytes {
    Heap(Box<[u8]>),
    Pages(MmapMut),
}

/// Fewest bytes of memory in pages of its own.
const LARGE: usize = 1 << 20;

impl<T: Plain> Zeroed<T> {
    fn none() -> Self {
        Self { bytes: Bytes::Heap(Box::default()), at: 0, len: 0, of: PhantomData }
    }

    /// Like [`new`](Self::new), in large pages where the system has them: for weights, which are written once
    /// and then read from end to end at every step. Steps take 5 to 7 % less (medians of `Q4_0` with one and
    /// eight rows).
    pub fn weights(len: usize) -> Result<Self, usize> {
        let zeroed = Self::new(len)?;
        #[cfg(target_os = "linux")]
        if let Bytes::Pages(pages) = &zeroed.bytes {
            // The system may decline.
            let _ = pages.advise(memmap2::Advice::HugePage);
        }
        Ok(zeroed)
    }

    /// `len` zeros, or the number of bytes for which there is no memory.
    pub fn new(len: usize) -> Result<Self, usize> {
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes == 0 {
            return Ok(Self::none());
        }
        if bytes >= LARGE {
            let pages = MmapMut::map_anon(bytes).map_err(|_| bytes)?;
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::DontFork);
            return Ok(Self { bytes: Bytes::Pages(pages), at: 0, len, of: PhantomData });
        }
        // Room to align the first number: no alignment of a number is larger than a page.
        let bytes = vec![0; bytes + align_of::<T>() - 1].into_boxed_slice();
        let at = bytes.as_ptr().align_offset(align_of::<T>());
        Ok(Self { bytes: Bytes::Heap(bytes), at, len, of: PhantomData })
    }
}

impl Bytes {
    fn as_ptr(&self) -> *const u8 {
        match self {
            Bytes::Heap(bytes) => bytes.as_ptr(),
            Bytes::Pages(pages) => pages.as_ptr(),
        }
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        match self {
            Bytes::Heap(bytes) => bytes.as_mut_ptr(),
            Bytes::Pages(pages) => pages.as_mut_ptr(),
        }
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

/// Memory of our own, or of a mapped file.
pub struct Memory<T>(Backing<T>);

enum Backing<T> {
    Own(Zeroed<T>),
    Mapped { file: Arc<Mmap>, at: usize, len: usize },
}

impl<T> From<Zeroed<T>> for Memory<T> {
    fn from(own: Zeroed<T>) -> Self {
        Self(Backing::Own(own))
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
        aligned.then(|| Self(Backing::Mapped { file: Arc::clone(file), at, len }))
    }
}

impl<T: Plain> Deref for Memory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Backing::Own(own) => own,
            Backing::Mapped { file, at, len } => {
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
    fn weights_ask_for_large_pages_that_children_do_not_get() {
        let memory = Zeroed::<Line>::weights(1 << 20).expect("memory");
        let middle = memory.as_ptr().addr() + (1 << 25);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let bounds = |line: &str| {
            let (from, to) = line.split(' ').next()?.split_once('-')?;
            Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
        };
        let mut lines = maps.lines().skip_while(|line| !bounds(line).is_some_and(|range| range.contains(&middle)));
        let flags = lines.find(|line| line.starts_with("VmFlags:"));
        let has = |name: &str| flags.is_none_or(|flags| flags.split(' ').any(|flag| flag == name));
        let known = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert!((!known || has("hg")) && has("dc"), "{flags:?}");
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
