//! Servers that run on this machine, on the ports that they usually have.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::address::Address;
use super::client::Client;
use super::{MOST_LIST, wire};
use crate::web::Patience;

/// Of `llama-server`, `vLLM`, `SGLang`, `LM Studio`, `Ollama` and ours.
const PORTS: &[u16] = &[8080, 8000, 30000, 1234, 11434, 8017];
/// Longest that whoever asks waits for all of them together.
const PATIENCE: Duration = Duration::from_millis(200);

/// A model that a server of this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearby {
    /// Argument of `--server`.
    pub address: String,
    /// Argument of `--server-model`.
    pub model: String,
}

/// The models of the servers on the usual ports. Asked is this machine alone, and without a key.
pub fn nearby() -> Vec<Nearby> {
    on(PORTS)
}

/// Like [`nearby`], on these ports.
fn on(ports: &[u16]) -> Vec<Nearby> {
    let (send, receive) = channel();
    for &port in ports {
        let send = send.clone();
        let ask = move || {
            let _ = send.send((port, models(port)));
        };
        let _ = thread::Builder::new().name("nearby".to_owned()).spawn(ask);
    }
    drop(send);
    let end = Instant::now() + PATIENCE;
    let left = || end.saturating_duration_since(Instant::now());
    let mut found: Vec<(u16, Vec<Nearby>)> = std::iter::from_fn(|| receive.recv_timeout(left()).ok()).collect();
    found.sort_by_key(|(port, _)| ports.iter().position(|known| known == port));
    found.into_iter().flat_map(|(_, models)| models).collect()
}

fn models(port: u16) -> Vec<Nearby> {
    let Ok(address) = Address::parse(&format!("http://127.0.0.1:{port}")) else { return Vec::new() };
    let patience = Patience { silence: PATIENCE, pause: PATIENCE, tries: 1, longest: PATIENCE };
    let shown = address.to_string();
    let Ok(client) = Client::new(address, None, patience, PATIENCE) else { return Vec::new() };
    let connection = Arc::new(client).connect();
    // Anything may listen there.
    let listed = connection.get("/models", MOST_LIST).map_or_else(|_| Vec::new(), |json| wire::models(&json));
    listed.into_iter().map(|model| Nearby { address: shown.clone(), model: model.id }).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::tests::scripted::{Model, Server, send};
    use super::*;

    #[test]
    fn servers_are_found_and_nobody_is_waited_for() {
        let port = |server: &Server| server.address.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
        let good = Server::good(Model::new(&["a\n"]));
        let page = Server::start(|_, out| send(out, "200 OK", "", "<html>"));
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let start = Instant::now();
        let found = on(&[1, port(&page), silent.local_addr().unwrap().port(), port(&good)]);
        assert!(start.elapsed() < PATIENCE * 5);
        assert_eq!(found, [Nearby { address: good.address.clone(), model: Model::NAME.to_owned() }]);
    }
}
