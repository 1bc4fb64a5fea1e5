//! Copying through the terminal (OSC 52): works over a remote shell and needs no program on the machine. The
//! terminal does not confirm, so the screen says "sent", not "copied".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Most base64 bytes that terminals take.
const MOST: usize = 74_994;

/// The control sequence that asks the terminal to take `text`. tmux passes it on to the terminal around it.
pub fn sequence(text: &str, in_tmux: bool) -> Result<String, String> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MOST {
        return Err(format!(
            "the text is too long for the terminal's clipboard ({} bytes, at most {})",
            text.len(),
            MOST / 4 * 3
        ));
    }
    let plain = format!("\x1b]52;c;{encoded}\x07");
    if in_tmux {
        let inner = plain.replace('\x1b', "\x1b\x1b");
        return Ok(format!("{plain}\x1bPtmux;{inner}\x1b\\"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_encoded_and_wrapped() {
        assert_eq!(sequence("hi", false).unwrap(), "\x1b]52;c;aGk=\x07");
        assert!(sequence("hi", true).unwrap().ends_with("\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"));
        assert!(sequence(&"x".repeat(100_000), false).unwrap_err().contains("too long"));
    }
}
