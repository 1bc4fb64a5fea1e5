"""Which tasks does a model not write yet? Asks it for every one, so that the next stretch of training can have more of what it lacks.

    python weak.py problems --out weak.jsonl                                  # one problem of each task, as `bass-tui eval` reads them
    bass-tui eval weak.jsonl --model runs/main/model --draft none -n 4 --temperature 0.8 --k 1 --json > results.json
    python weak.py weights --results results.json --out more_of.json          # how many times as often as usual each task is to come
    python prepare.py --out data2 --exercises 150000 --more-of more_of.json

The problems are from the templates that the training text is from, with other arguments and words: they say what was not learned, not how good a model is.
"""

import argparse
import json
import random
from pathlib import Path

import exercises

# A task that never passes comes this many times as often as usual; one that always passes comes once, so that it is not forgotten.
MOST = 6.0
# Calls that a solution is tested with.
CALLS = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["problems", "weights"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--results", help="what `bass-tui eval --json` has written")
    parser.add_argument("--seed", type=int, default=77)
    a = parser.parse_args()
    if a.what == "problems":
        rows = [row for number, task in enumerate(exercises.TASKS) if (row := problem(number, task, a.seed))]
        Path(a.out).write_text("".join(json.dumps(row) + "\n" for row in rows))
        print(f"{len(rows)} problems of {len(exercises.TASKS)} tasks")
        return
    if not a.results:
        parser.error("`weights` needs --results")
    results = json.loads(Path(a.results).read_text())
    factors = weights(len(exercises.TASKS), {p["task_id"]: p["passed"] / p["n"] for p in results["problems"]})
    Path(a.out).write_text(json.dumps(factors) + "\n")
    print(f"{sum(f > 1 for f in factors)} of {len(factors)} tasks come more often, the mean is {sum(factors) / len(factors):.2f} times")


def problem(number, task, seed):
    """A task in the form of HumanEval, or nothing if its samples cannot be asked for (in comments, as methods)."""
    rng = random.Random(f"{seed}:{number}")
    for _ in range(40):
        sample = exercises.render(task, rng)
        if not sample or not sample["prompt"]:
            continue
        calls = [call for _ in range(CALLS) if (call := checked_call(task, rng))]
        if not calls:
            return None
        body = sample["text"][len(sample["prompt"]) :]
        test = "def check(candidate):\n" + "".join(f"    {line}\n" for line in calls)
        return {"task_id": str(number), "prompt": sample["prompt"], "entry_point": sample["name"], "canonical_solution": body, "test": test}
    return None


def checked_call(task, rng):
    """An assertion about one call with random arguments; nothing where the reference raises."""
    args = exercises.gen_args(task, rng)
    try:
        wanted = exercises.reference(task)(*exercises.copy_args(args))
    except Exception:
        return None
    call = f"candidate({', '.join(map(repr, args))})"
    if "yield " in task.impls[0]:
        call = f"list({call})"
    return f"assert abs({call} - {wanted!r}) < 1e-9" if isinstance(wanted, float) else f"assert {call} == {wanted!r}"


def weights(tasks, passed):
    """How many times as often each of so many tasks is to come, from the share of its candidates that passed. What was not asked for comes as usual."""
    return [round(1 + (MOST - 1) * (1 - passed.get(str(number), 1.0)), 3) for number in range(tasks)]


if __name__ == "__main__":
    main()
