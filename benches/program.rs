//! The program as a whole: from its start to a drawn screen on a terminal of 80x24 (first frame, models
//! loaded), and eight candidates in one run against eight runs of one candidate.

use std::io::Read;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

/// Starts the program and waits until its screen shows `text`.
fn until(text: &str) -> Duration {
    let of = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(of).expect("a pseudo-terminal");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_bass-tui"));
    command.env("TERM", "xterm-256color");
    // Else the program asks the terminal for its background, which nobody answers here.
    command.args(["--theme", "dark"]);
    let start = Instant::now();
    let mut child = pty.slave.spawn_command(command).expect("the program starts");
    let output = read(pty.master.try_clone_reader().expect("a reader"));
    let mut screen = vt100::Parser::new(size(24), size(80), 0);
    while !screen.screen().contents().contains(text) {
        screen.process(&output.recv_timeout(Duration::from_secs(10)).expect("the screen is drawn"));
    }
    let time = start.elapsed();
    let _ = child.kill();
    let _ = child.wait();
    time
}

fn size(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).unwrap_or(NonZero::<u16>::MIN)
}

fn read(mut reader: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            if send.send(buffer[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

fn start(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("start");
    group.sample_size(10);
    for (name, text) in [("first frame", "bass-tui"), ("models loaded", " threads")] {
        group.bench_function(name, |b| b.iter_custom(|n| (0..n).map(|_| until(text)).sum()));
    }
    group.finish();
}

/// One run of `complete` without tests, on the first function of an example.
fn complete(n: &str, seed: usize) {
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_bass-tui"))
        .args([
            "complete", "--file", "examples/lists.py:find_max", "--tests", "none", "--json", "--no-history", "-n", n,
        ])
        .arg("--seed")
        .arg(seed.to_string())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.is_ok_and(|s| s.success()), "the run succeeds");
}

fn runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("program");
    group.sample_size(10);
    group.bench_function("1 run of 8 candidates", |b| b.iter(|| complete("8", 0)));
    group.bench_function("8 runs of 1 candidate", |b| b.iter(|| (0..8).for_each(|seed| complete("1", seed))));
    group.finish();
}

criterion_group!(benches, start, runs);
criterion_main!(benches);
