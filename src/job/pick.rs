//! Which candidate is the pick, and names of candidates.

/// Number of candidates equal to each one. Equal candidates have the same number in `origins`.
pub fn frequencies(origins: &[usize]) -> Vec<usize> {
    origins.iter().map(|origin| origins.iter().filter(|other| *other == origin).count()).collect()
}

/// The name of a candidate on the screen and in reports: A to Z, then AA, AB and so on.
pub fn label(candidate: usize) -> String {
    let letter = char::from(b'A' + (candidate % 26) as u8);
    if candidate < 26 { letter.to_string() } else { format!("{}{letter}", label(candidate / 26 - 1)) }
}

/// A ranking in the order of the pick: where tests decide those that passed come first, marked ones last of
/// these; else all marked ones come last.
pub fn order_of_pick(
    ranking: &[usize],
    tested: bool,
    passed: impl Fn(usize) -> bool,
    marked: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut order = ranking.to_vec();
    order.sort_by_key(|&c| (tested && !passed(c), (!tested || passed(c)) && marked(c)));
    order
}

/// Returns true if a candidate may be the pick, by the word of the tests on it (`None` where no test says
/// anything): it passed, or nothing is known against it, and it is no empty text.
pub fn may_be_picked(judged: Option<bool>, text: &str, is_broken: bool) -> bool {
    !text.trim().is_empty() && judged.unwrap_or(!is_broken)
}

/// The candidate to pick. Once all have ended (`ranking` is known) it is the best ranked that passed, or
/// where no tests decide the best ranked; until then the first that passed. A marked candidate is picked only
/// if no other passed.
pub fn pick(
    ranking: Option<&[usize]>,
    first_pass: Option<usize>,
    tested: bool,
    passed: impl Fn(usize) -> bool,
    marked: impl Fn(usize) -> bool,
) -> Option<usize> {
    match ranking {
        Some(ranking) => {
            let first = order_of_pick(ranking, tested, &passed, marked).first().copied();
            first.filter(|&c| !tested || passed(c))
        }
        None => first_pass.filter(|&c| passed(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_go_on_after_z() {
        assert_eq!([0, 7, 25, 26, 63].map(label), ["A", "H", "Z", "AA", "BL"]);
    }

    #[test]
    fn the_pick_is_the_best_ranked_that_passed_and_until_all_have_ended_the_first() {
        let cases: [(Option<&[usize]>, _, _, _); 6] = [
            (Some(&[2, 3, 1, 0]), Some(1), true, Some(3)),
            (Some(&[2, 0]), None, true, None),
            (Some(&[2, 0]), None, false, Some(2)),
            (None, Some(1), true, Some(1)),
            (None, Some(2), true, None),
            (None, None, false, None),
        ];
        for (ranking, first, tested, expected) in cases {
            let picked = pick(ranking, first, tested, |c| c == 1 || c == 3, |_| false);
            assert_eq!(picked, expected, "{ranking:?}, first {first:?}, tested {tested}");
        }
        let marked = |marked: fn(usize) -> bool| pick(Some(&[2, 3, 1, 0]), Some(3), true, |c| c == 1 || c == 3, marked);
        assert_eq!(marked(|c| c == 3), Some(1), "a pass that is marked is passed over");
        assert_eq!(marked(|c| c == 1 || c == 3), Some(3), "unless no other passed");
    }
}
