//! Given answers: the solutions that came with the problems, or a file of samples.

use std::path::Path;

use serde_json::Value;

use super::problem::{Answer, Problem};
use super::read::rows;

/// The reference solution of each problem, one answer each. The error is a sentence.
pub fn canonical(problems: &[Problem]) -> Result<Vec<Vec<Answer>>, String> {
    let one = |problem: &Problem| match &problem.reference {
        Some(answer) => Ok(vec![answer.clone()]),
        None => Err(format!(
            "{}: {} comes without a solution: leave it out with --only, or give --solutions FILE",
            problem.origin, problem.id
        )),
    };
    problems.iter().map(one).collect()
}

/// The answers of a file of samples (`task_id` and `completion` or `solution`), by problem, in the order of
/// the file. `selected` marks the requested ones of `problems`. Answers to others are skipped, but an id that
/// no problem has is an error.
pub fn read(path: &Path, problems: &[Problem], selected: &[bool]) -> Result<Vec<Vec<Answer>>, String> {
    let mut answers: Vec<Vec<Answer>> = vec![Vec::new(); problems.len()];
    for mut row in rows(path)? {
        let at = |why: &str| format!("{}: {why}", row.origin);
        let id = match row.object.remove("task_id") {
            Some(Value::String(id)) => id,
            Some(Value::Number(number)) => number.to_string(),
            _ => {
                return Err(at(
                    "the key `task_id` is missing: expected a sample with `task_id` and `completion` or `solution`",
                ));
            }
        };
        let answer = match (row.object.remove("completion"), row.object.remove("solution")) {
            (Some(Value::String(text)), _) => Answer::Completion(text),
            (_, Some(Value::String(text))) => Answer::Program(text),
            _ => {
                return Err(at(
                    "there is neither `completion` (what follows the prompt) nor `solution` (a whole program)",
                ));
            }
        };
        let Some(index) = find(problems, &id) else {
            return Err(at(&format!("there is no problem {id} in the problem files")));
        };
        answers[index].push(answer);
    }
    let empty = problems.iter().zip(&answers).zip(selected).find(|((_, a), selected)| **selected && a.is_empty());
    match empty {
        Some(((problem, _), _)) => Err(format!(
            "the file {} holds no sample of {}: add one, or leave the problem out with --only",
            path.display(),
            problem.id
        )),
        None => Ok(answers),
    }
}

/// The problem with this id. A plain number or another case is accepted if it is unambiguous.
pub fn find(problems: &[Problem], id: &str) -> Option<usize> {
    if let Some(index) = problems.iter().position(|p| p.id == id) {
        return Some(index);
    }
    let alike = |p: &&Problem| p.id.eq_ignore_ascii_case(id) || p.id.rsplit('/').next() == Some(id);
    let mut found = problems.iter().enumerate().filter(|(_, p)| alike(p)).map(|(index, _)| index);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::super::problem::sample;
    use super::*;

    fn problems() -> Vec<Problem> {
        ["Set/0", "Set/1", "Other/1"].map(|id| Problem { id: id.to_owned(), ..sample() }).to_vec()
    }

    #[test]
    fn samples_find_their_problems() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.jsonl");
        let read = |text: &str, selected: &[bool]| {
            std::fs::write(&path, text).unwrap();
            super::read(&path, &problems(), selected)
        };
        let text = "{\"task_id\":\"Set/1\",\"completion\":\"a\"}\n{\"task_id\":0,\"solution\":\"b\"}\n{\"task_id\":\"set/1\",\"completion\":\"c\"}\n";
        let answers = read(text, &[true, true, false]).unwrap();
        assert_eq!(answers[1], ["a", "c"].map(|t| Answer::Completion(t.to_owned())));
        assert_eq!(answers[0], [Answer::Program("b".to_owned())]);
        assert!(read(text, &[true; 3]).unwrap_err().contains("no sample of Other/1"));
        assert!(
            read("{\"task_id\":\"1\",\"completion\":\"a\"}", &[false; 3])
                .unwrap_err()
                .contains("line 1: there is no problem 1")
        );
        assert!(read("{\"task_id\":\"Set/0\"}", &[false; 3]).unwrap_err().contains("neither `completion`"));
    }

    #[test]
    fn a_problem_without_a_solution_is_named() {
        let mut problems = problems();
        assert_eq!(canonical(&problems).unwrap().len(), 3);
        problems[2].reference = None;
        assert!(canonical(&problems).unwrap_err().contains("Other/1"));
    }
}
