//! Plain numbers, which are the same as values and as bytes: what is mapped from files, and what a GPU reads.

/// Numbers without padding between or behind them.
///
/// # Safety
/// Every byte has to be one of a number, and any bytes have to be a value.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: plain numbers.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}

/// The bytes of plain values.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: every byte of a plain value is one of a number.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of plain values, to be overwritten by those of others.
pub fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are numbers.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
