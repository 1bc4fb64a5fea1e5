//! `bass-tui serve` under load, on this machine: what many clients get at a time is held against what each
//! request gives alone, to the token, while half of the clients are processes that are killed at random
//! times; memory is watched, and throughput is compared with the same work as one batch of the engine in this
//! process, before and after.
//!
//! ```sh
//! cargo build --release && cargo run --release --example serve_load -- --seconds 600
//! ```
//!
//! The built-in pair writes. Every request has 2 candidates of 64 tokens; half of them are streams. In the
//! first half of the time all 32 clients stay, and take turns with the engine alone: their tokens in a turn
//! are held against those of the turns of the engine before and after it, since a machine that others use is
//! not as fast at all times. In the second half every other client is killed after up to two seconds, again
//! and again. It ends with an error if anything was lost, mixed up or left behind. The clients use the same
//! cores.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bass_tui::engine::{DraftVocabulary, GenerateOptions, StopRules};
use bass_tui::model::{DRAFT, MAIN, ModelFiles, PromptText};
use bass_tui::sampling::Sampling;
use bass_tui::source::{Drafting, Event, LocalModels, LocalSource, Prompt, Request, Source};
use clap::Parser;
use serde_json::{Value, json};

const PROMPT: &str = "def add(a, b):\n    \"\"\"Add a and b.\"\"\"\n";
const CANDIDATES: usize = 2;
const TOKENS: usize = 64;
/// Requests that differ; each is asked for again and again.
const REQUESTS: usize = 48;
/// A turn of the engine alone, and one of the clients.
const ALONE: Duration = Duration::from_secs(8);
const SERVED: Duration = Duration::from_secs(20);

#[derive(Parser)]
struct Arguments {
    /// Time for the clients.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    #[arg(long, default_value_t = 32)]
    clients: usize,
    /// The program; by default the one that was built beside this one.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Only asks this server, for ever: a client that is made to be killed.
    #[arg(long, hide = true)]
    victim: Option<String>,
    #[arg(long, hide = true, default_value_t = 0)]
    seed: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.victim {
        Some(address) => victim(address, arguments.seed),
        None => run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// `SplitMix64`.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// Answer to a request: text and token ids of each candidate.
type Answer = Vec<(String, Vec<u64>)>;

fn body(number: usize, stream: bool) -> String {
    json!({ "prompt": prompt(number), "seed": number, "n": CANDIDATES, "max_tokens": TOKENS,
            "temperature": 0.8, "top_p": 0.95, "ignore_eos": true, "return_token_ids": true, "stream": stream })
    .to_string()
}

fn send(address: &str, method: &str, path: &str, body: &str) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect(address).map_err(|why| format!("no connection: {why}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(|why| why.to_string())?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).map_err(|why| format!("it is not taken: {why}"))?;
    Ok(stream)
}

/// The body of an answer with the status 200.
fn read(mut stream: TcpStream) -> Result<String, String> {
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(|why| format!("it breaks off: {why}"))?;
    let (head, mut rest) = text.split_once("\r\n\r\n").ok_or_else(|| format!("no answer: {text:?}"))?;
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(format!("it is refused: {text}"));
    }
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return Ok(rest.to_owned());
    }
    let mut whole = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).map_err(|_| format!("no size: {size:?}"))?;
        whole += more.get(..size).ok_or("a piece is cut")?;
        rest = more.get(size + 2..).unwrap_or_default();
    }
    Ok(whole)
}

/// Takes in a choice, whole or a piece of one.
fn take(choice: &Value, answer: &mut Answer, ended: &mut usize) -> Option<()> {
    let (text, ids) = answer.get_mut(choice["index"].as_u64()? as usize)?;
    text.push_str(choice["text"].as_str()?);
    ids.extend(choice["token_ids"].as_array()?.iter().filter_map(Value::as_u64));
    *ended += usize::from(choice["finish_reason"] == "length");
    Some(())
}

fn ask(address: &str, number: usize, streams: bool) -> Result<Answer, String> {
    let said = read(send(address, "POST", "/v1/completions", &body(number, streams))?)?;
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|why| format!("{why}: {text}"));
    let mut answer: Answer = vec![Default::default(); CANDIDATES];
    let mut ended = 0;
    let mut whole = |told: &Value| {
        let choices = told["choices"].as_array().ok_or_else(|| format!("no choices: {told}"))?;
        let taken = choices.iter().try_for_each(|choice| take(choice, &mut answer, &mut ended));
        taken.ok_or_else(|| format!("no choice: {told}"))
    };
    if streams {
        let mut data: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        if data.pop() != Some("[DONE]") {
            return Err(format!("a stream has no end: {said:?}"));
        }
        data.into_iter().try_for_each(|event| whole(&parse(event)?))?;
    } else {
        whole(&parse(&said)?)?;
    }
    let is_whole = ended == CANDIDATES && answer.iter().all(|(_, ids)| ids.len() == TOKENS);
    if is_whole { Ok(answer) } else { Err(format!("something is missing: {said}")) }
}

/// Asks until it is killed.
fn victim(address: &str, mut seed: u64) -> Result<(), String> {
    loop {
        let number = random(&mut seed);
        ask(address, number as usize % REQUESTS, number >> 32 & 1 == 0)?;
    }
}

/// A server, ended with its value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &Path) -> Result<Self, String> {
        let args = ["serve", "--listen", "127.0.0.1:0"];
        let mut child = Command::new(program)
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|why| format!("{}: {why}", program.display()))?;
        let mut said = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            if said.read_line(&mut line).map_err(|why| why.to_string())? == 0 {
                return Err("the server has ended".to_owned());
            }
        }
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(['\n', ';']).next());
        let address = address.unwrap_or_default().trim().to_owned();
        Ok(Self { child, address })
    }

    fn metric(&self, name: &str) -> Result<u64, String> {
        let text = read(send(&self.address, "GET", "/metrics", "")?)?;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("bass_tui_{name} ")).map(str::to_owned));
        line.and_then(|value| value.parse().ok()).ok_or_else(|| format!("there is no {name}"))
    }

    /// Memory that it holds, in MiB.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line.and_then(|rest| rest.trim().split(' ').next()?.parse().ok()).unwrap_or(f64::NAN);
        kib / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The prompt of a request.
fn prompt(number: usize) -> String {
    format!("{PROMPT}\n\n\ndef f{}(x):\n", number / 4)
}

/// Tokens per second of the engine in this process, which is given as many of the same requests at once as
/// there are clients, and the next ones when all of these are done.
fn alone(source: &LocalSource, clients: usize, next: &mut usize) -> f64 {
    let (start, mut tokens) = (Instant::now(), 0);
    while start.elapsed() < ALONE {
        let (send, receive) = std::sync::mpsc::channel();
        for _ in 0..clients {
            let number = *next % REQUESTS;
            *next += 1;
            let sampling = Sampling { temperature: 0.8, top_p: Some(0.95), ..Sampling::GREEDY };
            let stop = StopRules { ignore_eos: true, ..StopRules::default() };
            let (n, seed) = (CANDIDATES, number as u64);
            let options = GenerateOptions { n, sampling, max_tokens: TOKENS, seed, stop, ..GenerateOptions::default() };
            let send = send.clone();
            let sink = move |event| {
                let _ = send.send(event);
                std::ops::ControlFlow::Continue(())
            };
            let request = Request { prompt: Prompt::Text(PromptText::marks(prompt(number))), reference: None, options };
            source.generate(request, Box::new(sink));
        }
        drop(send);
        tokens += receive
            .iter()
            .map(|event| if let Event::Tokens { ids, .. } = event { ids.len() } else { 0 })
            .sum::<usize>();
    }
    tokens as f64 / start.elapsed().as_secs_f64()
}

/// Results of the clients that stay.
#[derive(Default)]
struct Seen {
    answers: AtomicUsize,
    wrong: Mutex<Vec<String>>,
    over: AtomicBool,
}

/// Requests of clients, and the answers that they must get.
struct Load<'a> {
    server: &'a Server,
    expected: &'a [Answer],
    seen: Seen,
    /// Clients at a time.
    count: usize,
}

impl Load<'_> {
    /// So many clients ask until the time is over, while `work` is done.
    fn clients(&self, count: usize, salt: u64, end: Instant, work: impl FnOnce()) {
        thread::scope(|scope| {
            for client in 0..count {
                scope.spawn(move || self.client(salt << 32 | client as u64, end));
            }
            work();
        });
    }

    fn client(&self, mut state: u64, end: Instant) {
        while Instant::now() < end {
            let number = random(&mut state);
            let (request, streams) = (number as usize % REQUESTS, number >> 32 & 1 == 0);
            let expected = &self.expected[request];
            let wrong = match ask(&self.server.address, request, streams) {
                Ok(answer) if answer == *expected => None,
                Ok(answer) => Some(format!("request {request} gives {answer:?}, alone {expected:?}")),
                Err(why) => Some(why),
            };
            self.seen.answers.fetch_add(1, Ordering::Relaxed);
            if let (Some(wrong), Ok(mut list)) = (wrong, self.seen.wrong.lock()) {
                list.push(wrong);
            }
        }
    }
}

/// Processes that ask, each killed after a time of its own and followed by another; how many there were.
fn killed(server: &Server, count: usize, end: Instant) -> Result<usize, String> {
    let itself = std::env::current_exe().map_err(|why| why.to_string())?;
    let (mut state, mut number) = (7, 0);
    let mut start = |number: &mut usize| {
        *number += 1;
        let time = Instant::now() + Duration::from_millis(50 + random(&mut state) % 1950);
        let args = ["--victim", &server.address, "--seed", &number.to_string()];
        let child = Command::new(&itself).args(args).stderr(Stdio::null()).spawn().map_err(|why| why.to_string())?;
        Ok::<_, String>((time, child))
    };
    let mut running: VecDeque<(Instant, Child)> = (0..count).map(|_| start(&mut number)).collect::<Result<_, _>>()?;
    while Instant::now() < end {
        for (time, child) in &mut running {
            if Instant::now() >= *time {
                // SIGKILL: nothing is said to the server.
                let _ = child.kill();
                let _ = child.wait();
                (*time, *child) = start(&mut number)?;
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
    for (_, mut child) in running {
        let _ = child.kill();
        let _ = child.wait();
    }
    Ok(number)
}

/// Turns of the engine alone and of all clients; tokens per second of each turn of the clients, and of the
/// engine's around it.
fn turns(load: &Load<'_>, source: &LocalSource, end: Instant) -> Vec<(f64, f64)> {
    let (mut next, mut turns) = (0, Vec::new());
    let mut before = alone(source, load.count, &mut next);
    while Instant::now() < end {
        let (start, answers) = (Instant::now(), load.seen.answers.load(Ordering::Relaxed));
        load.clients(load.count, turns.len() as u64, start + SERVED, || ());
        let tokens = (load.seen.answers.load(Ordering::Relaxed) - answers) * CANDIDATES * TOKENS;
        let served = tokens as f64 / start.elapsed().as_secs_f64();
        let after = alone(source, load.count, &mut next);
        turns.push((served, f64::midpoint(before, after)));
        before = after;
    }
    turns
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(values.len() / 2), at(values.len().saturating_sub(1) / 2))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("bass-tui"));
    let program = arguments.program.clone().or_else(beside).ok_or("name the program with --program")?;
    let server = Server::start(&program)?;
    let expected: Vec<Answer> =
        (0..REQUESTS).map(|number| ask(&server.address, number, number % 2 == 0)).collect::<Result<_, _>>()?;
    let models = LocalModels {
        main: ModelFiles::Embedded(&MAIN),
        draft: Drafting::Model(ModelFiles::Embedded(&DRAFT)),
        own_head: false,
        draft_vocabulary: DraftVocabulary::Auto,
        draft_dtype: bass_tui::backend::Dtype::Auto,
        chat: None,
        load: bass_tui::backend::LoadOptions::default(),
        profiles: None,
        weights: None,
        // A server keeps prompts, too.
        kv_cache: 64 << 20,
        shared: None,
    };
    let source = LocalSource::open(&models).map_err(|why| why.to_string())?;
    // The first request measures the pair.
    alone(&source, arguments.clients, &mut 0);

    let half = Duration::from_secs(arguments.seconds) / 2;
    let load = Load { server: &server, expected: &expected, seen: Seen::default(), count: arguments.clients };
    let memory = Mutex::new(Vec::new());
    let told = thread::scope(|scope| {
        scope.spawn(|| {
            while !load.seen.over.load(Ordering::Relaxed) {
                if let Ok(mut list) = memory.lock() {
                    list.push(server.memory());
                }
                thread::sleep(Duration::from_millis(500));
            }
        });
        let turns = turns(&load, &source, Instant::now() + half);
        let staying = load.seen.answers.load(Ordering::Relaxed);
        let (end, stay) = (Instant::now() + half, load.count / 2);
        let mut victims = Ok(0);
        load.clients(stay, u64::MAX, end, || victims = killed(&server, load.count - stay, end));
        load.seen.over.store(true, Ordering::Relaxed);
        Ok::<_, String>((turns, staying, victims?))
    });
    let (turns, staying, victims) = told?;
    let resting = Instant::now();
    while server.metric("requests")? + server.metric("candidates")? + server.metric("positions")? > 0 {
        if resting.elapsed() > Duration::from_secs(30) {
            return Err("the server still works for clients that have gone".to_owned());
        }
        thread::sleep(Duration::from_millis(50));
    }
    let beside = load.seen.answers.load(Ordering::Relaxed) - staying;
    println!("answers: {staying} to {} clients that stay, {beside} beside those that are killed", load.count);
    println!("clients killed: {victims}; streams broken off: {}", server.metric("answers_broken_off_total")?);
    let ratio = median(turns.iter().map(|(served, local)| served / local));
    let (served, local) = (median(turns.iter().map(|turn| turn.0)), median(turns.iter().map(|turn| turn.1)));
    println!(
        "tokens/s, medians of {} turns: {served:.0} served, {local:.0} as one batch, ratio {ratio:.2}",
        turns.len()
    );
    let ratios: Vec<String> = turns.iter().map(|(served, local)| format!("{:.2}", served / local)).collect();
    println!("ratios by turn: {}", ratios.join(" "));
    let memory = memory.into_inner().map_err(|why| why.to_string())?;
    let at = |share: usize| memory.get(memory.len() * share / 4).or(memory.last()).copied().unwrap_or(f64::NAN);
    let quarters: Vec<String> = (0..=4).map(|share| format!("{:.1}", at(share))).collect();
    println!("memory of the server in MiB, by quarters of the time: {}", quarters.join(", "));
    let wrong = load.seen.wrong.into_inner().map_err(|why| why.to_string())?;
    match wrong.as_slice() {
        [] => {
            println!("nothing was lost, nothing was mixed up");
            Ok(())
        }
        [first, ..] => Err(format!("{} answers are wrong, the first: {first}", wrong.len())),
    }
}
