//! Lines for a person: colours on a terminal, plain text anywhere else.
//!
//! A reader that went away (`gonets demo | head`) is not an error: the rest is not written.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
};

/// Standard output.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    colours: bool,
}

/// What a piece of text is, not how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Waiting,
    Bad,
    Faint,
    Strong,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Waiting => "33",
            Self::Bad => "31",
            Self::Faint => "2",
            Self::Strong => "1",
        }
    }
}

impl Terminal {
    /// Colours if standard output is a terminal and `NO_COLOR` is not set.
    pub fn of_process() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colours: !refused && std::io::stdout().is_terminal() }
    }

    /// Never any colours.
    #[cfg(test)]
    pub const fn plain() -> Self {
        Self { colours: false }
    }

    /// The text in its tone.
    pub fn paint(self, tone: Tone, text: impl Display) -> String {
        if self.colours { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_string() }
    }

    /// Writes one line.
    pub fn line(self, text: impl Display) {
        let mut out = std::io::stdout().lock();
        // Whoever read us has gone away; there is nobody left to tell.
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }

    /// Writes a text as it is.
    pub fn raw(self, text: &str) {
        let mut out = std::io::stdout().lock();
        // As above.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_but_the_text_is_written() {
        assert_eq!(Terminal::plain().paint(Tone::Good, "●"), "●");
        assert_eq!(Terminal { colours: true }.paint(Tone::Good, "●"), "\x1b[32m●\x1b[0m");
    }
}
