//! Seeds of problems, from the seed of the run and the name of the problem alone. So a problem's candidates
//! depend neither on the other problems of the run nor on their order.

use crate::hash;

/// The seed of the problem `id` in a run with `seed`.
pub fn of_problem(seed: u64, id: &str) -> u64 {
    // The finisher of SplitMix64, which spreads close numbers.
    let mixed = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    mixed(mixed(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ hash::of(id.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn seeds_differ_by_problem_and_by_run() {
        let seeds: HashSet<u64> =
            (0..20).flat_map(|seed| (0..200).map(move |i| of_problem(seed, &format!("HumanEval/{i}")))).collect();
        assert_eq!(seeds.len(), 20 * 200);
        // A seed that changes between versions makes earlier results worthless.
        assert_eq!(of_problem(0, "HumanEval/0"), of_problem(0, "HumanEval/0"));
    }
}
