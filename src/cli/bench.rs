//! `bass-tui bench`: the cost and gain of draft lengths with these models on this machine, measured side by
//! side.

mod figures;
mod measure;
mod profile;
mod report;

use std::time::Duration;

use super::args::{list, token_ids};
use super::failure::{Failure, INTERRUPTED};
use super::output::{print, say};
use super::progress::Line;
use super::session::{Session, on_signal, unusable};
use crate::engine::draft_length::POLICIES;
use crate::engine::{DraftLength, GenerateOptions, MAX_CANDIDATES, StopRules};
use crate::model::PromptText;
use crate::options::{Flags, MODELS, SAMPLING, Settings};
use crate::source::{Drafting, LocalModels, LocalSource, Prompt, Source};
use measure::Plan;
use report::Report;

/// The default prompts.
const PROMPTS: [&str; 3] = [
    "def running_total(values):\n    \"\"\"Return a list whose item i is the sum of values[0] to values[i].\"\"\"\n",
    "def is_palindrome(text):\n    \"\"\"Return True if text reads the same from both ends, ignoring case.\n\n    >>> is_palindrome('Level')\n    True\n    >>> is_palindrome('Lever')\n    False\n    \"\"\"\n",
    "def merge_sorted(left, right):\n    \"\"\"Merge two sorted lists into one sorted list.\n\n    >>> merge_sorted([1, 4], [2, 3])\n    [1, 2, 3, 4]\n    \"\"\"\n    merged = []\n",
];

/// Time for the measurements of `--profile`.
const PROFILE: Duration = Duration::from_secs(10);

/// Most repeats: with more, the median no longer changes.
const MAX_REPEATS: usize = 100;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All combinations complete the same prompts, with as many tokens for each candidate, and take turns, so that a machine that \
slows down slows all of them; a first round is not counted. Models are loaded once. What auto has learned from earlier \
requests it keeps, as it does on the screen.

EXAMPLES
  bass-tui bench                                           the built-in models
  bass-tui bench --model ~/models/main --draft ~/models/draft --batch 1,8 --draft-lengths plain,2,4,auto
  bass-tui bench --accept coupled,rejection --temperature 0.2 --json
  bass-tui bench --drafters none,lookup,sibling,auto --draft-lengths plain,auto
  bass-tui bench --draft lookup --prompt \"$(cat stats.py)\" --max-tokens 128
  bass-tui bench --profile                                 measure the models anew for --draft-length auto and table

EXIT CODES
  0 measured   2 wrong usage or bad input   3 the engine failed   130 interrupted")]
pub struct Args {
    #[command(flatten)]
    options: Flags<{ MODELS | SAMPLING }>,
    /// Numbers of candidates, each 1 to 64
    #[arg(
        long,
        value_name = "N,N",
        default_value = "1,2,4,8,16",
        help_heading = "What to measure",
        allow_negative_numbers = true
    )]
    batch: String,
    /// Draft tokens per step: plain (no drafts), numbers from 0 to 64, names that --draft-length takes
    /// [default: plain, 1 to 8 and every name, or plain where nothing drafts]
    #[arg(long, value_name = "K,K", help_heading = "What to measure", allow_negative_numbers = true)]
    draft_lengths: Option<String>,
    /// Values of --draft to compare, in turns; each loads the models anew [default: the one of --draft]
    #[arg(long, value_name = "NAME,NAME", help_heading = "What to measure", conflicts_with = "profile")]
    drafters: Option<String>,
    /// How drafts are accepted; coupled,rejection compares both
    #[arg(long, value_name = "rejection|coupled", default_value = "coupled", help_heading = "What to measure")]
    accept: String,
    /// Text to complete; may be given several times [default: three heads of Python functions]
    #[arg(long, value_name = "TEXT", help_heading = "What to measure")]
    prompt: Vec<String>,
    /// Token ids to complete, fed as they are
    #[arg(
        long,
        value_name = "1,2,3",
        help_heading = "What to measure",
        allow_negative_numbers = true,
        conflicts_with = "prompt"
    )]
    prompt_ids: Option<String>,
    /// Tokens of every candidate: nothing ends it earlier
    #[arg(
        long,
        value_name = "T",
        default_value_t = 64,
        help_heading = "What to measure",
        allow_negative_numbers = true
    )]
    max_tokens: usize,
    /// How often everything is measured, 1 to 100
    #[arg(
        long,
        value_name = "R",
        default_value_t = 5,
        help_heading = "What to measure",
        allow_negative_numbers = true
    )]
    repeat: usize,
    /// Keep what was read of the prompts, as the screen does: a repeated request then waits for what is new only
    #[arg(long, help_heading = "What to measure")]
    warm: bool,
    /// Instead of all that: measure what passes of the models cost and how far drafts survive, print it, and
    /// keep it for the draft lengths auto and table
    #[arg(long, help_heading = "What to measure")]
    profile: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let mut session = Session::open(&args.options)?;
    let mut plan = args.plan(&session.settings)?;
    let kv_cache = if args.warm { usize::MAX } else { 0 };
    let mut all = Vec::new();
    for drafter in &plan.drafters {
        session.settings.draft.clone_from(drafter);
        all.push(LocalModels { kv_cache, ..session.models()? });
    }
    let models = &all[0];
    on_signal(|| {
        if Line::is_seen() {
            say(Line::CLEAR);
        }
        std::process::exit(i32::from(INTERRUPTED));
    });
    if args.profile {
        let (info, profile) = LocalSource::measure(models, PROFILE).map_err(|error| unusable(&error))?;
        print(&if args.json { profile::json(&info, &profile) } else { profile::text(&info, &profile) })?;
        if !profile.is_steady() {
            say(
                "Other programs disturbed these times, so they are not kept and the next start measures anew: run it again when this machine does little else.\n",
            );
        }
        return Ok(0);
    }
    plan.lengths = args.lengths(&all)?;
    let open = |models| LocalSource::open(models).map_err(|error| unusable(&error));
    let sources = all.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let mut line = Line::new(false);
    let runs = plan.measure(&sources, &mut |progress| {
        if line.due().is_some() {
            line.draw(&progress.text());
        }
    })?;
    drop(line);
    let report = Report::new(&plan, sources[0].info(), runs);
    print(&if args.json { report.json() } else { report.text() })?;
    Ok(0)
}

impl Args {
    /// The plan of the flags, without the draft lengths.
    fn plan(&self, settings: &Settings) -> Result<Plan, Failure> {
        let chosen = &settings.generate;
        if self.max_tokens == 0 {
            return Err(Failure::input("--max-tokens is 0, expected at least 1"));
        }
        let stop = StopRules { ignore_eos: true, ..StopRules::default() };
        // A time budget would end runs at different lengths.
        let options = GenerateOptions { max_tokens: self.max_tokens, stop, time_budget: None, ..chosen.clone() };
        let candidates = |part: &str| part.parse().ok().filter(|n| (1..=MAX_CANDIDATES).contains(n));
        let expected = format!("numbers of candidates from 1 to {MAX_CANDIDATES}, such as 1,2,4");
        let batches = once(list("--batch", &self.batch, &expected, candidates)?);
        let accepts = once(list("--accept", &self.accept, "rejection, coupled or both", |part| part.parse().ok())?);
        if !(1..=MAX_REPEATS).contains(&self.repeat) {
            return Err(Failure::input(format!("--repeat is {}, expected 1 to {MAX_REPEATS}", self.repeat)));
        }
        if self.prompt.iter().any(String::is_empty) {
            return Err(Failure::input("--prompt is empty: there is nothing to complete"));
        }
        let texts =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| Prompt::Text(PromptText::marks(text))).collect();
        let prompts: Vec<Prompt> = match &self.prompt_ids {
            Some(ids) => vec![Prompt::Ids(token_ids(ids)?)],
            None if self.prompt.is_empty() => texts(&mut PROMPTS.into_iter()),
            None => texts(&mut self.prompt.iter().map(String::as_str)),
        };
        // Invalid lengths are reported before any file of a model is looked for.
        let lengths = self.lengths_asked()?.unwrap_or_default();
        let drafter = |part: &str| (!part.is_empty()).then(|| part.to_owned());
        let drafters = match &self.drafters {
            None => vec![settings.draft.clone()],
            Some(names) => once(list("--drafters", names, "values of --draft, such as none,lookup,auto", drafter)?),
        };
        Ok(Plan { prompts, batches, accepts, lengths, drafters, repeats: self.repeat, options })
    }

    fn lengths_asked(&self) -> Result<Option<Vec<DraftLength>>, Failure> {
        let read = |part: &str| if part == "plain" { Some(DraftLength::Fixed(0)) } else { part.parse().ok() };
        let names = POLICIES.map(|policy| policy.name).join(", ");
        let expected = format!("plain, {names} or numbers from 0 to 64, such as plain,2,4,auto");
        self.draft_lengths.as_deref().map(|text| list("--draft-lengths", text, &expected, read).map(once)).transpose()
    }

    /// The draft lengths to measure with these models.
    fn lengths(&self, models: &[LocalModels]) -> Result<Vec<DraftLength>, Failure> {
        const PLAIN: DraftLength = DraftLength::Fixed(0);
        let drafts = models.iter().any(|models| !matches!(models.draft, Drafting::None));
        match self.lengths_asked()? {
            Some(asked) if drafts || asked == [PLAIN] => Ok(asked),
            Some(_) => Err(Failure::input(
                "--draft-lengths asks for drafts, but these models have no drafter, and without one only plain is measured: \
                 leave out --draft-lengths, or name a drafter with --draft",
            )),
            None if drafts => Ok((0..=8).map(DraftLength::Fixed).chain(POLICIES.map(|policy| policy.length)).collect()),
            None => Ok(vec![PLAIN]),
        }
    }
}

/// The items without repetitions, each at its first place.
fn once<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}
