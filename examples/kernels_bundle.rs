//! Compiles the CUDA kernels for every kind of GPU into one file, for machines without NVRTC. The program
//! finds it beside itself. No GPU is needed.
//!
//! `cargo run --release --example kernels_bundle -- [TO] [LIBNVRTC]`

use std::path::PathBuf;
use std::process::ExitCode;

use bass_tui::backend::cuda::{BUNDLE, Libraries, make_bundle};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let to = args.next().map_or_else(|| BUNDLE.into(), PathBuf::from);
    let libraries = match args.next() {
        Some(compiler) => Libraries { compiler: vec![compiler.into()], ..Libraries::default() },
        None => Libraries::default(),
    };
    let written = make_bundle(&libraries).and_then(|bytes| match std::fs::write(&to, &bytes) {
        Ok(()) => Ok(bytes.len()),
        Err(error) => Err(format!("{} cannot be written: {error}", to.display())),
    });
    match written {
        Ok(bytes) => println!("{}: {bytes} bytes", to.display()),
        Err(why) => {
            eprintln!("kernels_bundle: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
