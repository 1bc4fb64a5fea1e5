//! The way to a server: certificates of one's own, and proxies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::server::{Model, Server};
use super::world::{Done, World, candidates, text_of};

const KEY: &str = "sk-on-its-way-31";
const VARIABLES: [&str; 10] = [
    "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
];

/// `complete` over this server with these variables and no others of their kind.
fn complete(world: &World, server: &str, set: &[(&str, &str)]) -> Done {
    let args = ["complete", "def f(x):\n", "--tests", "none", "-n", "2", "--json", "--server", server];
    let mut command = world.command(&args);
    for name in VARIABLES {
        command.env_remove(name);
    }
    let out = command.envs(set.iter().copied()).output().expect("the program");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let done = Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) };
    assert!(!done.out.contains(KEY) && !done.err.contains(KEY), "{}{}", done.out, done.err);
    done
}

/// Passes on what either side says.
fn pass_on(one: TcpStream, other: TcpStream) {
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Both);
        })
    };
    copy(one.try_clone().expect("a socket"), other.try_clone().expect("a socket"));
    copy(other, one);
}

/// A proxy that connects whoever asks to one and the same port.
struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(to: &str, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (to, log) = (to.to_owned(), asked.clone());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).unwrap_or(0) == 0 {
                        break;
                    }
                    head.extend(byte);
                }
                log.lock().expect("no panic").push(String::from_utf8_lossy(&head).into_owned());
                let _ = stream.write_all(answer.as_bytes());
                if answer.contains(" 200 ") {
                    pass_on(stream, TcpStream::connect(&to).expect("the server"));
                }
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

const CONNECTED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

fn openssl(folder: &Path, args: &str) -> Result<(), String> {
    let out = Command::new("openssl").args(args.split(' ')).current_dir(folder).output();
    let out = out.map_err(|why| why.to_string())?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// An authority of one's own and a certificate of it for the names in `names`.
fn certify(folder: &Path, names: &str) -> Result<(), String> {
    let new = "req -newkey rsa:2048 -nodes -sha256 -subj";
    openssl(folder, &format!("{new} /CN=own -x509 -days 2 -keyout ca.key -out ca.pem"))?;
    openssl(folder, &format!("{new} /CN=server -keyout leaf.key -out leaf.csr"))?;
    std::fs::write(folder.join("names"), format!("subjectAltName={names}\n")).expect("a file");
    let signed = "x509 -req -sha256 -days 2 -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial";
    openssl(folder, &format!("{signed} -extfile names -out leaf.pem"))
}

/// Takes TLS off and passes on to a port.
const TERMINATOR: &str = "
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
    except OSError:
        pass
    for side in (one, other):
        try:
            side.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve(plain):
    try:
        inside = context.wrap_socket(plain, server_side=True)
    except OSError:
        return
    outside = socket.create_connection(('127.0.0.1', int(sys.argv[3])))
    threading.Thread(target=copy, args=(inside, outside), daemon=True).start()
    copy(outside, inside)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

struct Tls {
    child: Child,
    port: String,
}

impl Tls {
    fn start(folder: &Path, to: &Server, certificate: &str, key: &str) -> Result<Self, String> {
        let port = to.address.rsplit(':').next().expect("a port");
        let mut command = Command::new("python3");
        command.args(["-c", TERMINATOR, certificate, key, port]).current_dir(folder).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|why| why.to_string())?;
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line);
        Ok(Self { child, port: line.trim().to_owned() })
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_with_an_authority_of_its_own_is_believed_where_that_is_named() {
    let world = World::new();
    let folder = world.work();
    if let Err(why) = certify(&folder, "IP:127.0.0.1,DNS:gpu.test") {
        return super::skip::for_want_of("openssl", why);
    }
    let server = Server::good(Model { key: Some(KEY.to_owned()), ..Model::new(&["    return x\n", "    return 1\n"]) });
    let tls = match Tls::start(&folder, &server, "leaf.pem", "leaf.key") {
        Ok(tls) => tls,
        Err(why) => return super::skip::for_want_of("python3", why),
    };
    let (address, ca) = (format!("https://127.0.0.1:{}", tls.port), text_of(&folder.join("ca.pem")));
    let own = [("SSL_CERT_FILE", ca.as_str()), ("BASS_TUI_SERVER_KEY", KEY)];
    complete(&world, &address, &own[1..]).refused(3, &["certificate", "SSL_CERT_FILE"]);
    assert!(server.asked().is_empty(), "the key went to a stranger");
    let report = complete(&world, &address, &own).code(0).json();
    assert_eq!(candidates(&report)[0]["text"], "    return x\n");
    // The name counts, too.
    let other = format!("https://localhost:{}", tls.port);
    complete(&world, &other, &own).refused(3, &["certificate"]);
    // Through a proxy the server's certificate is looked at, and the proxy sees no key.
    let proxy = Proxy::start(&format!("127.0.0.1:{}", tls.port), CONNECTED);
    let through = [own[0], own[1], ("HTTPS_PROXY", proxy.address.as_str()), ("HTTP_PROXY", "http://127.0.0.1:9")];
    complete(&world, "https://gpu.test", &through).code(0);
    let before = proxy.asked().len();
    complete(&world, "https://cpu.test", &through).refused(3, &["certificate"]);
    let asked = proxy.asked();
    assert_eq!(asked.len(), before + 1, "a certificate stays the same");
    assert!(asked[0].starts_with("CONNECT gpu.test:443 ") && !asked.concat().contains(KEY), "{asked:?}");
    // One that signs itself and is its own authority, as `openssl req -x509` makes it.
    let itself = Tls::start(&folder, &server, "ca.pem", "ca.key").expect("python3");
    let address = format!("https://127.0.0.1:{}", itself.port);
    complete(&world, &address, &own).refused(3, &["certificate"]);
}

#[test]
fn a_proxy_is_used_for_other_machines_only_and_not_where_it_is_excepted() {
    let world = World::new();
    let server = Server::good(Model::new(&["    return x\n", "    return 1\n"]));
    let to = server.address.strip_prefix("http://").expect("an address");
    let proxy = Proxy::start(to, CONNECTED);
    let set = |name| (name, proxy.address.as_str());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let report = complete(&world, "http://gpu.test:8000", &[set(name)]).code(0).json();
        assert_eq!(candidates(&report)[0]["text"], "    return x\n");
    }
    let asked = proxy.asked();
    assert!(asked.iter().all(|head| head.starts_with("CONNECT gpu.test:8000 ")), "{asked:?}");
    // None of these goes there.
    complete(&world, "http://gpu.test:8000", &[set("HTTP_PROXY"), ("NO_PROXY", "gpu.test")]).refused(3, &["gpu.test"]);
    complete(&world, "http://gpu.test:8000", &[set("HTTPS_PROXY")]).refused(3, &["gpu.test"]);
    complete(&world, &server.address, &[set("HTTP_PROXY")]).code(0);
    assert_eq!(proxy.asked().len(), asked.len());
    let closed = Proxy::start(to, "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    complete(&world, "http://gpu.test:8000", &[("HTTP_PROXY", &closed.address)])
        .refused(3, &["the proxy does not connect", "403"]);
    complete(&world, "http://gpu.test:8000", &[("HTTP_PROXY", "ftp://x")])
        .refused(3, &["the address of the proxy is wrong"]);
}
