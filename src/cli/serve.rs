//! `bass-tui serve`: this machine's model for editors and other programs.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use super::args::ConsentArgs;
use super::failure::Failure;
use super::output::say;
use super::session::{Session, consent, unusable};
use crate::catalog::memory;
use crate::job::{Judge, TrialPool};
use crate::options::{Flags, GENERATION, MODELS, PROMPTS, SAMPLING, TESTS};
use crate::serve::{self, Access, Setup, Token, Trials};
use crate::source::{LocalModels, LocalSource, Shared, Source};

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It speaks OpenAI's protocol (/v1/models, /v1/completions, /v1/chat/completions), where nothing but what the request says \
counts, beside --draft-length, --accept and --time-budget; and /v1/candidates, which is complete --json as a stream and begins \
with the options given here. What else there is: /health, and /metrics for Prometheus. SIGINT or SIGTERM ends it.

EXAMPLES
  bass-tui serve
  bass-tui serve --model qwen2.5-coder-1.5b-instruct --listen 127.0.0.1:9000
  bass-tui serve --listen 0.0.0.0:8017 --token-file ~/.config/bass-tui/token
  curl http://127.0.0.1:8017/v1/completions -d '{\"prompt\": \"def add(a, b):\", \"max_tokens\": 32, \"n\": 8}'

EXIT CODES
  0 ended by a signal   2 wrong usage or bad input   3 engine or sandbox failed")]
pub struct Args {
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8017",
        help_heading = "Server",
        help = "Where to listen; addresses that other machines reach need a token. Port 0 is a free one"
    )]
    listen: String,
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Server",
        help = "File (mode 600) with the token that whoever asks has to send; or it is in BASS_TUI_SERVE_TOKEN"
    )]
    token_file: Option<PathBuf>,
    #[arg(
        long,
        help_heading = "Server",
        help = "Run tests on candidates for /v1/candidates, in the sandbox: whoever may ask can then have files of projects read, \
                and code run in it"
    )]
    allow_trials: bool,
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Server",
        help = "Most positions of keys and values of all requests that are being written: each has one for every token of its prompt \
                and of every candidate. Those that do not fit wait [default: what a quarter of the memory holds]"
    )]
    max_positions: Option<u64>,
    #[command(flatten)]
    consent: ConsentArgs,
    #[command(flatten)]
    options: Flags<{ MODELS | GENERATION | SAMPLING | TESTS | PROMPTS }>,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let session = Session::open(&args.options)?;
    let address = address(&args.listen)?;
    let token = Token::find(args.token_file.as_deref()).map_err(Failure::input)?;
    if token.is_none() && !address.ip().is_loopback() {
        return Err(Failure::input(format!(
            "--listen {} can be reached from other machines: give a token with --token-file FILE or in {}, or listen on 127.0.0.1",
            args.listen,
            Token::VARIABLE
        )));
    }
    let taken = |error| Failure::input(format!("--listen {} cannot be listened on: {error}", args.listen));
    let listener = TcpListener::bind(address).map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    let trials = if args.allow_trials {
        let judge: Arc<dyn Judge> = Arc::new(consent(session.runner(), args.consent.unprotected)?);
        let pool = TrialPool::new(judge.clone()).map_err(Failure::internal)?;
        Some(Trials { judge, pool })
    } else {
        None
    };
    let shared = Some(shared(args.max_positions));
    let models = LocalModels { shared, ..session.models_keeping_prompts()? };
    let source = LocalSource::open(&models).map_err(|error| unusable(&error))?;
    let info = source.info();
    let note = info.note.map_or_else(String::new, |note| format!("\nbass-tui: {note}"));
    say(&format!(
        "bass-tui: {} (draft {}) is served at http://{address}{}{note}\n",
        info.model,
        info.draft,
        if address.ip().is_loopback() { "" } else { "; what goes over the network is not encrypted" }
    ));
    let setup =
        Setup { source: Arc::new(source), settings: session.settings.clone(), access: Access { token }, trials };
    serve::serve(listener, setup).map_err(|error| Failure::internal(format!("the server has failed: {error}")))?;
    Ok(0)
}

/// Settings shared by all requests.
fn shared(positions: Option<u64>) -> Shared {
    let fit = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    match (positions, memory::of_machine()) {
        (Some(positions), _) => Shared::Positions(fit(positions)),
        (None, Some(bytes)) => Shared::Bytes(fit(bytes / 4)),
        (None, None) => Shared::Positions(usize::MAX),
    }
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| {
        Failure::input(format!("--listen is {text}, expected an address and a port such as 127.0.0.1:8017"))
    })
}
