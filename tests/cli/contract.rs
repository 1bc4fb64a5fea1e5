//! Contract of every source of candidates: the engine of this machine, our own server, and, by hand, any
//! other one that has the built-in main model:
//!
//! ```sh
//! CONTRACT_SERVER=http://127.0.0.1:8000 cargo test --test cli contract -- --ignored --nocapture
//! ```
//!
//! `CONTRACT_SERVER_MODEL` names the model where the server has several. Features that a server lacks are
//! said, and are no failure.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{Dtype, HostLogits, LoadOptions, Network, Rows, Span, Wanted};
use bass_tui::engine::{DraftVocabulary, GenerateOptions, StopRules};
use bass_tui::model::{self, Model, ModelFiles, PromptText};
use bass_tui::sampling::Sampling;
use bass_tui::source::server::{Address, Key, Wishes};
use bass_tui::source::{
    Drafting, Event, FinishReason, LocalModels, LocalSource, Prompt, Request, ServerSource, Source, Summary, Ticket,
};

use super::served::Served;
use super::world::World;

const PROMPTS: [&str; 6] = [
    "def add(a, b):\n    \"\"\"Add a and b.\"\"\"\n",
    "def is_even(n):\n    \"\"\"Return True if n is even, False otherwise.\"\"\"\n",
    "def count_vowels(text):\n    \"\"\"Return the number of vowels in text.\"\"\"\n",
    "def largest(numbers):\n",
    "import os\n\n\ndef read_lines(path):\n",
    "x = \"ü€\"\n\n\ndef reverse(text):\n    \"\"\"Return text backwards.\"\"\"\n",
];
/// Tokens of a greedy text.
const TOKENS: usize = 48;
/// Nats between the two best tokens below which another order of summation may choose the other one.
const NEAR_TIE: f32 = 0.02;
/// Message about a server that ignores the temperature.
const DRAWS_NOTHING: &str = "it draws nothing: what it writes at temperature 0.9 or 1.2 is what it writes at 0";
/// Longest silence of a source.
const PATIENCE: Duration = Duration::from_secs(120);

/// Outcome of a request.
#[derive(Debug, Default)]
struct Came {
    /// By candidate, as they were streamed and at their end.
    streamed: Vec<String>,
    texts: Vec<String>,
    reasons: Vec<Option<FinishReason>>,
    ids: Vec<Vec<u32>>,
    logprobs: Vec<Vec<f32>>,
    summary: Option<Summary>,
    /// Why there are no candidates.
    refused: Option<String>,
}

fn request(prompt: &str, n: usize, temperature: f32, seed: u64, max_tokens: usize) -> Request {
    let sampling = Sampling { temperature, ..Sampling::GREEDY };
    let options = GenerateOptions { n, sampling, seed, max_tokens, ..GenerateOptions::default() };
    Request { prompt: Prompt::Text(PromptText::marks(prompt)), reference: None, options }
}

fn ask(source: &dyn Source, request: Request) -> (Ticket, Receiver<Event>) {
    let (send, receive) = channel();
    let sink = move |event| if send.send(event).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    (source.generate(request, Box::new(sink)), receive)
}

/// Takes in events to the last one.
fn follow(n: usize, events: &Receiver<Event>) -> Came {
    let mut came = Came {
        streamed: vec![String::new(); n],
        texts: vec![String::new(); n],
        reasons: vec![None; n],
        ids: vec![Vec::new(); n],
        logprobs: vec![Vec::new(); n],
        ..Came::default()
    };
    loop {
        match events.recv_timeout(PATIENCE).unwrap_or_else(|why| panic!("{why}: {came:?}")) {
            Event::Tokens { candidate, text, ids, logprobs, .. } => {
                assert_eq!(came.reasons[candidate], None, "nothing comes after an end");
                came.streamed[candidate].push_str(&text);
                came.ids[candidate].extend(ids);
                came.logprobs[candidate].extend(logprobs);
            }
            Event::Finished { candidate, reason, text, .. } => {
                assert_eq!(came.reasons[candidate], None, "a candidate ends once");
                (came.reasons[candidate], came.texts[candidate]) = (Some(reason), text);
            }
            Event::Done(summary) => {
                came.summary = Some(*summary);
                break;
            }
            Event::Refused(why) | Event::Failed(why) => {
                came.refused = Some(why);
                break;
            }
            Event::Prefill { .. } | Event::Scored { .. } | Event::Step(_) | Event::Broken { .. } => {}
        }
    }
    assert!(events.recv_timeout(Duration::from_millis(50)).is_err(), "nothing comes after the last event");
    came
}

fn generate(source: &dyn Source, request: Request) -> Came {
    let n = request.options.n;
    let (_ticket, events) = ask(source, request);
    follow(n, &events)
}

/// The engine of this machine, without drafts, and the network under it.
struct Reference {
    source: LocalSource,
    model: Model,
    network: CpuNetwork,
}

impl Reference {
    fn new() -> Self {
        let files = ModelFiles::Embedded(&model::MAIN);
        let model = Model::load(&files).expect("the built-in model");
        let network = CpuNetwork::new(&model, LoadOptions::default(), Kernels::best()).expect("the built-in model");
        Self { source: local(Drafting::None), model, network }
    }

    /// Nats between the two best tokens after `ids`.
    fn margin(&mut self, ids: &[u32]) -> f32 {
        let seq = self.network.open(ids.len()).expect("room");
        let spans = [Span { seq, start: 0, len: ids.len() }];
        self.network.forward(&Rows::chain(ids, &spans), Wanted::Last).expect("a pass");
        let mut best = self.network.logits(0).to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        self.network.close(seq);
        best[0] - best[1]
    }

    /// Holds a greedy text against that of the engine: equal, or different from a near-tie on.
    fn compare(&mut self, prompt: &str, text: &str, tokens: usize) -> Result<(), String> {
        let own = generate(&self.source, request(prompt, 1, 0.0, 0, tokens));
        if own.texts[0] == text {
            return Ok(());
        }
        let equal = own.texts[0].bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let tokenizer = &self.model.tokenizer;
        let before = |&at: &usize| tokenizer.decode_continuation(&own.ids[0][..at]).len() <= equal;
        let at = (0..own.ids[0].len()).take_while(before).last().unwrap_or(0);
        let all = [tokenizer.encode(prompt).expect("tokens"), own.ids[0].clone()].concat();
        let prompt_tokens = all.len() - own.ids[0].len();
        // Two tokens may begin alike: the choice may have been made a little earlier.
        let margin = (at.saturating_sub(2)..=at).map(|at| self.margin(&all[..prompt_tokens + at])).reduce(f32::min);
        if margin.is_some_and(|margin| margin < NEAR_TIE) {
            return Ok(());
        }
        Err(format!("after {equal} bytes of {:?} it is {text:?} ({margin:?} nats)", own.texts[0]))
    }
}

fn local(draft: Drafting) -> LocalSource {
    let main = ModelFiles::Embedded(&model::MAIN);
    let load = LoadOptions::default();
    let models = LocalModels {
        main,
        draft,
        own_head: false,
        draft_vocabulary: DraftVocabulary::Auto,
        draft_dtype: Dtype::Auto,
        chat: None,
        load,
        profiles: None,
        weights: None,
        kv_cache: 0,
        shared: None,
    };
    LocalSource::open(&models).expect("the built-in model")
}

/// Source under test, and its reference.
struct Case<'a> {
    source: &'a dyn Source,
    reference: &'a mut Reference,
}

/// Fault of a source.
enum Fault {
    /// It does something else.
    Broken(String),
    /// It lacks something that not all servers have, as a probe of that alone shows.
    Lacks(String),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Broken(why)
    }
}

/// Something that a source has to do.
type Check = fn(&mut Case<'_>) -> Result<(), Fault>;

const CHECKS: &[(&str, Check)] = &[
    ("greedy texts are the engine's up to the first near-tie", greedy),
    ("eight candidates come with ends, a ranking and what was streamed", eight),
    ("tokens are counted as the engine counts them", usage),
    ("a text ends before a stop", stops),
    ("a length is kept", lengths),
    ("a seed gives the same again, another one something else", seeds),
    ("what is cancelled ends soon, one candidate or all", cancelled),
    ("an empty prompt is refused", refused),
    ("requests at a time do not mix", together),
];

fn expect(holds: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::Broken(what())) }
}

fn greedy(case: &mut Case<'_>) -> Result<(), Fault> {
    for prompt in PROMPTS {
        let came = generate(case.source, request(prompt, 1, 0.0, 0, TOKENS));
        expect(came.refused.is_none(), || format!("{came:?}"))?;
        case.reference.compare(prompt, &came.texts[0], TOKENS).map_err(|why| format!("{prompt:?}: {why}"))?;
    }
    let came = generate(case.source, request(PROMPTS[0], 3, 0.0, 7, TOKENS));
    expect(came.texts.iter().all(|text| *text == came.texts[0]), || format!("three of them differ: {came:?}"))
}

fn eight(case: &mut Case<'_>) -> Result<(), Fault> {
    let came = generate(case.source, request(PROMPTS[2], 8, 0.9, 3, 40));
    let ended = |reason: &Option<FinishReason>| matches!(reason, Some(FinishReason::Stop | FinishReason::Length));
    expect(came.reasons.iter().all(ended), || format!("not all of them end: {came:?}"))?;
    for (streamed, text) in came.streamed.iter().zip(&came.texts) {
        // The end may take trailing white space back.
        expect(streamed.trim_end() == text.trim_end(), || format!("{streamed:?} was streamed, {text:?} is the end"))?;
    }
    let different = came.texts.iter().collect::<std::collections::HashSet<_>>().len();
    let greedy = || generate(case.source, request(PROMPTS[2], 1, 0.0, 3, 40)).texts[0] == came.texts[0];
    if different == 1 && greedy() {
        return Err(Fault::Lacks(DRAWS_NOTHING.to_owned()));
    }
    expect(different > 1, || format!("all eight say the same: {:?}", came.texts[0]))?;
    let mut ranking = came.summary.as_ref().map(|summary| summary.ranking.clone()).unwrap_or_default();
    ranking.sort_unstable();
    expect(ranking == (0..8).collect::<Vec<_>>(), || format!("the ranking is {ranking:?}"))?;
    expect(came.logprobs.iter().flatten().all(|&p| p <= 0.0), || format!("{:?}", came.logprobs))
}

fn usage(case: &mut Case<'_>) -> Result<(), Fault> {
    let came = generate(case.source, request(PROMPTS[1], 2, 0.0, 0, 12));
    let own = generate(&case.reference.source, request(PROMPTS[1], 2, 0.0, 0, 12));
    let count = |came: &Came| came.summary.as_ref().map(|summary| (summary.prompt_tokens, summary.tokens));
    let (Some((prompt, written)), Some((own_prompt, own_written))) = (count(&came), count(&own)) else {
        return Err(Fault::Broken(format!("there is no end: {came:?}")));
    };
    if (prompt, written) == (0, 0) {
        return Err(Fault::Lacks("it counts no tokens".to_owned()));
    }
    // Where each candidate is a request of its own, its prompt may be counted again.
    expect([own_prompt, 2 * own_prompt].contains(&prompt), || format!("{prompt} tokens of prompt, not {own_prompt}"))?;
    // The token that ends a text is counted by some.
    expect(own_written.abs_diff(written) <= 2, || format!("{written} tokens written, not {own_written}"))
}

fn stops(case: &mut Case<'_>) -> Result<(), Fault> {
    let mut asked = request(PROMPTS[0], 2, 0.0, 0, TOKENS);
    asked.options.stop = StopRules { strings: ["return", "never"].map(str::to_owned).to_vec(), ..StopRules::default() };
    let came = generate(case.source, asked);
    let stopped = came.texts.iter().all(|text| !text.contains("return"));
    expect(stopped && came.streamed.iter().all(|text| !text.contains("return")), || format!("{came:?}"))?;
    expect(came.reasons.iter().all(|reason| *reason == Some(FinishReason::Stop)), || format!("{came:?}"))
}

fn lengths(case: &mut Case<'_>) -> Result<(), Fault> {
    let came = generate(case.source, request(PROMPTS[3], 2, 0.0, 0, 5));
    expect(came.reasons.iter().all(|reason| *reason == Some(FinishReason::Length)), || format!("{came:?}"))?;
    came.texts.iter().try_for_each(|text| Ok(case.reference.compare(PROMPTS[3], text, 5)?))
}

fn seeds(case: &mut Case<'_>) -> Result<(), Fault> {
    let texts = |seed: u64| generate(case.source, request(PROMPTS[2], 4, 1.2, seed, 32)).texts;
    let (one, again, other) = (texts(11), texts(11), texts(12));
    if one == other && one.iter().all(|text| *text == one[0]) {
        return Err(Fault::Lacks(DRAWS_NOTHING.to_owned()));
    }
    if one != again && seeds_are_shared(case) {
        return Err(Fault::Lacks(
            "its seeds are those of all requests at a time: alone each gives the same again".to_owned(),
        ));
    }
    expect(one == again, || format!("{one:?} and {again:?}"))?;
    expect(one != other, || format!("seeds 11 and 12 give {one:?}"))
}

/// A request gives the same text again when it is alone, and another one beside another request.
fn seeds_are_shared(case: &mut Case<'_>) -> bool {
    let of = |prompt, seed| request(prompt, 1, 1.2, seed, 32);
    let alone: Vec<String> = (0..3).map(|_| generate(case.source, of(PROMPTS[2], 11)).texts.concat()).collect();
    let beside = || {
        let (first, second) = (ask(case.source, of(PROMPTS[2], 11)), ask(case.source, of(PROMPTS[1], 12)));
        follow(1, &second.1);
        follow(1, &first.1).texts.concat()
    };
    alone.iter().all(|text| *text == alone[0]) && (0..5).any(|_| beside() != alone[0])
}

fn cancelled(case: &mut Case<'_>) -> Result<(), Fault> {
    // The model repeats itself here for as long as it may.
    let (ticket, events) = ask(case.source, request(&format!("x = [{}", "0, ".repeat(40)), 2, 0.0, 1, 800));
    let mut seen = 0;
    while seen < 2 {
        match events.recv_timeout(PATIENCE) {
            Ok(Event::Tokens { .. }) => seen += 1,
            Ok(Event::Done(_) | Event::Refused(_) | Event::Failed(_)) | Err(_) => {
                return Err("it was over before it could be cancelled".to_owned().into());
            }
            Ok(_) => {}
        }
    }
    ticket.cancel(0);
    let start = Instant::now();
    loop {
        match events.recv_timeout(PATIENCE) {
            Ok(Event::Finished { candidate: 0, reason: FinishReason::Cancelled, .. }) => break,
            Ok(Event::Done(_) | Event::Failed(_)) | Err(_) => {
                return Err("one alone is not cancelled".to_owned().into());
            }
            Ok(_) => {}
        }
    }
    ticket.cancel_all();
    let ended = std::iter::from_fn(|| events.recv_timeout(PATIENCE).ok()).any(|event| matches!(event, Event::Done(_)));
    expect(ended && start.elapsed() < Duration::from_secs(5), || format!("{:?} until its end", start.elapsed()))?;
    // It is free for the next one.
    let next = generate(case.source, request(PROMPTS[0], 1, 0.0, 0, 4));
    expect(next.summary.is_some(), || format!("{next:?}"))
}

fn refused(case: &mut Case<'_>) -> Result<(), Fault> {
    let came = generate(case.source, request("", 1, 0.0, 0, 4));
    expect(came.refused.as_ref().is_some_and(|why| why.contains("the prompt is empty")), || format!("{came:?}"))
}

fn together(case: &mut Case<'_>) -> Result<(), Fault> {
    let of = |prompt| request(prompt, 2, 0.0, 0, 24);
    let all: Vec<_> = PROMPTS.iter().map(|prompt| ask(case.source, of(prompt))).collect();
    let came: Vec<Came> = all.iter().map(|(_, events)| follow(2, events)).collect();
    for (prompt, came) in PROMPTS.iter().zip(came) {
        expect(came.refused.is_none(), || format!("{came:?}"))?;
        case.reference.compare(prompt, &came.texts[0], 24).map_err(|why| format!("{prompt:?}: {why}"))?;
    }
    Ok(())
}

/// Parts of the contract that do not hold, and parts that are lacking.
fn broken(source: &dyn Source, reference: &mut Reference) -> (Vec<String>, Vec<String>) {
    let mut case = Case { source, reference };
    let (mut broken, mut lacking) = (Vec::new(), Vec::new());
    for (what, check) in CHECKS {
        let start = Instant::now();
        let outcome = check(&mut case);
        let said = match &outcome {
            Ok(()) => "yes".to_owned(),
            Err(Fault::Lacks(why)) => format!("it cannot: {why}"),
            Err(Fault::Broken(why)) => format!("NO: {why}"),
        };
        println!("{what}: {said} ({:.1?})", start.elapsed());
        match outcome {
            Ok(()) => {}
            Err(Fault::Lacks(why)) => lacking.push(format!("{what}: {why}")),
            Err(Fault::Broken(why)) => broken.push(format!("{what}: {why}")),
        }
    }
    (broken, lacking)
}

#[test]
fn the_contract_of_sources_holds_for_the_engine_and_for_our_server() {
    let mut reference = Reference::new();
    let drafts = local(Drafting::Model(ModelFiles::Embedded(&model::DRAFT)));
    assert_eq!(broken(&drafts, &mut reference), Default::default(), "with drafts");
    let world = World::new();
    let served = Served::start(&world, &[]);
    let address = Address::parse(&format!("http://{}", served.address)).expect("an address");
    let server = ServerSource::open(address, None, Wishes::default()).expect("our server");
    assert_eq!(broken(&server, &mut reference), Default::default(), "over our server");
}

#[test]
#[ignore = "needs a server of somebody else's with the built-in model, in CONTRACT_SERVER"]
fn the_contract_of_sources_holds_for_the_server_that_is_named() {
    let server = std::env::var("CONTRACT_SERVER").expect("CONTRACT_SERVER: the address of a server");
    let name = std::env::var("CONTRACT_SERVER_MODEL").ok();
    let address = Address::parse(&server).expect("an address");
    let key = Key::find(&address, Path::new("server-keys.toml")).expect("a key");
    let wishes = Wishes { model: name.as_deref(), chat: Some(false.into()), ..Wishes::default() };
    let source = ServerSource::open(address, key, wishes).expect("a server");
    println!("{:?}", source.info());
    let (broken, _) = broken(&source, &mut Reference::new());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
