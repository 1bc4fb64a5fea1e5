//! Messages name the cause.

use super::*;

/// The message for a server that answers for real with this status, head and body.
fn said(status: &'static str, more: &'static str, body: &'static str) -> String {
    let server = bad(move |_, out| send(out, status, more, body));
    let came = generate(&open(&server).unwrap(), 1);
    came.over.clone().unwrap_or_else(|| format!("{came:?}"))
}

#[test]
fn an_answer_that_is_none_is_quoted() {
    let html = "content-type: text/html\r\n";
    let page =
        "<!DOCTYPE html>\n<html><head><title>Sign in &ndash; Corp</title></head><body>\u{1b}[31mhi</body></html>";
    let cases: [(&str, &str, &str, &[&str]); 14] = [
        ("200 OK", html, page, &["it is a web page", "Sign in", "proxy", "--server"]),
        ("200 OK", "", page, &["it is a web page", "Sign in"]),
        ("403 Forbidden", html, page, &["answers 403", "it is a web page", "Sign in"]),
        ("502 Bad Gateway", html, "<html><h1>Bad gateway</h1>", &["answers 502", "it is a web page"]),
        ("200 OK", "", "", &["it is empty"]),
        ("200 OK", "content-type: text/event-stream\r\n", "", &["it is empty"]),
        ("200 OK", "", "Ollama is running\u{7}", &["not JSON", "\u{201c}Ollama is running\u{201d}"]),
        ("200 OK", "content-type: application/json\r\n", "[1, 2", &["ended its answer"]),
        ("200 OK", "content-type: application/json\r\n", "{\"a\": nope}", &["not JSON", "{\"a\": nope}"]),
        ("200 OK", "", "{\"message\":\"model is loading\"}", &["gave up", "model is loading"]),
        (
            "400 Bad Request",
            "",
            "{\"detail\":[{\"loc\":[\"body\",\"prompt\"],\"msg\":\"too odd\"}]}",
            &["answers 400: prompt: too odd"],
        ),
        (
            "400 Bad Request",
            "",
            "[{\"error\":{\"code\":400,\"message\":\"API key not valid\"}}]",
            &["answers 400: API key not valid"],
        ),
        ("500 Internal Server Error", "", "{\"errors\":[{\"message\":\"one\"},\"two\"]}", &["answers 500: one; two"]),
        ("404 Not Found", "", "{\"detail\":\"Not Found\"}", &["answers 404: Not Found", "/v1/completions"]),
    ];
    for (status, more, body, words) in cases {
        let said = said(status, more, body);
        assert!(words.iter().all(|word| said.contains(word)), "{status} {body}: {said}");
        assert!(!said.contains(['\u{1b}', '\u{7}', '\n']), "{said}");
    }
}

#[test]
fn a_server_that_wants_time_says_how_much() {
    let after = |head| said("429 Too Many Requests", head, "{\"error\":{\"message\":\"slow down\"}}");
    assert!(after("retry-after: 86400\r\n").contains("answers 429: slow down (it asks to wait 86400 s)"));
    assert!(
        after("retry-after: Wed, 21 Oct 2037 07:28:00 GMT\r\n").contains("(it asks to wait until Wed, 21 Oct 2037")
    );
    assert!(after("").ends_with("answers 429: slow down"));
}

#[test]
fn the_other_protocol_is_named() {
    let open = |address: &str| {
        let client = Client::new(Address::parse(address).unwrap(), None, QUICK, QUICK.silence).unwrap();
        ServerSource::open_with(client, Wishes::default()).err().unwrap().to_string()
    };
    // What says the same to everybody, and an address of it.
    let always = |bytes: &'static [u8], scheme: &str| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
                let _ = stream.write_all(bytes);
            }
        });
        address
    };
    for plain in [&b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"[..], b""] {
        let said = open(&always(plain, "https"));
        assert!(said.contains("does not speak TLS") && said.contains("http://?"), "{said}");
    }
    // An alert of TLS, which is what such a server says to a request in the clear.
    let said = open(&always(b"\x15\x03\x01\x00\x02\x02\x46", "http"));
    assert!(said.contains("does not speak HTTP") && said.contains("https://?"), "{said}");
    let said = open("http://127.0.0.1:9");
    assert!(said.contains("cannot be reached") && said.to_lowercase().contains("refused"), "{said}");
}
