//! Times of runs for the reader, in the time zone of this machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time as ms since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// `14:03` on the day of `now`, else [`day_and_time`]; both in ms since 1970.
pub fn time(at: u64, now: u64) -> String {
    let (all, today) = (day_and_time(at), day_and_time(now));
    match (all.split_once(' '), today.split_once(' ')) {
        (Some((day, time)), Some((this, _))) if day == this => time.to_owned(),
        _ => all,
    }
}

/// `2026-11-26 14:03` of a time in ms since 1970.
pub fn day_and_time(at: u64) -> String {
    let seconds = libc::time_t::try_from(at / 1000).unwrap_or_default();
    // SAFETY: `tm` is plain data, for which zeros are valid.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both point to values that live through the call; the function keeps neither.
    if unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) }.is_null() {
        return String::new();
    }
    let (year, month) = (i64::from(parts.tm_year) + 1900, parts.tm_mon + 1);
    format!("{year:04}-{month:02}-{:02} {:02}:{:02}", parts.tm_mday, parts.tm_hour, parts.tm_min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_today_goes_without_its_day() {
        let noon = 1_790_000_000_000;
        let all = day_and_time(noon);
        assert_eq!((all.len(), &all[..6]), (16, "2026-0"), "{all}");
        assert_eq!(time(noon, noon), all[11..]);
        assert_eq!(time(noon, noon + 3 * 86_400_000), all);
        assert!(!day_and_time(u64::MAX).contains('\u{1b}'), "an impossible time does no harm");
    }
}
