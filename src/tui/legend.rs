//! Words of the screen that no key stands for, with their meaning.

/// A word, or a figure as an example of its kind, and its meaning. The help and `docs/keys.md` end with them.
pub const LEGEND: [(&str, &str); 13] = [
    ("lp -0.12", "mean log-probability of a candidate's tokens by the main model; nearer to 0 is likelier"),
    ("rank 1", "place among the candidates: by tests, then agreement, then probability; equal ones share it"),
    ("PICK", "the candidate that the program would take"),
    ("CLOSEST", "none passed, and this one fails the fewest tests"),
    ("MARKED", "you marked it, and others are compared with it"),
    ("PASS, MARKED", "it passes its tests, but there is something to look at, such as a call of another program"),
    ("WRONG ANSWER", "it gives another answer to a call than the one that you said is right"),
    ("+14 like it", "14 more calls tell the same candidates apart as this one"),
    ("alone", "no other candidate does what this one does on all calls"),
    ("a tie", "as many candidates do one thing as another"),
    ("1.1x of plain", "speed with drafts, in times of the speed without them"),
    ("+0.3/step", "tokens of drafts that are accepted per step, beside the one of the main model"),
    ("▁▃▇", "the same for each of the last steps: the lowest bar is none, the highest seven and more"),
];
