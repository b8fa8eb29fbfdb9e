//! The chunked coding (RFC 9112 §7.1), decoded as bytes come, in any pieces.
//!
//! Sizes are hexadecimal and bounded, extensions are skipped, trailers are read and dropped, and
//! all that is not data is limited, so a peer cannot keep us reading for nothing but the
//! deadline.

/// The longest size line and the longest trailer section, in bytes.
const MAX_LINE: usize = 1024;
const MAX_TRAILERS: usize = 8 * 1024;

/// Where the decoder stands.
#[derive(Debug, PartialEq, Eq)]
enum At {
    /// In a size line, before its extensions.
    Size,
    /// In a size line's extensions.
    Extension,
    /// In the data; so many bytes are to come.
    Data(u64),
    /// Behind the data, before its line end.
    DataEnd,
    /// In the trailers; whether the line has a byte yet.
    Trailer { line_is_empty: bool },
    /// Behind the last byte of the message.
    End,
}

/// A decoder of one message.
#[derive(Debug)]
pub(super) struct Chunked {
    at: At,
    size: u64,
    digits: usize,
    overhead: usize,
}

/// The coding was broken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadChunk;

impl Chunked {
    pub(super) fn new() -> Self {
        Self { at: At::Size, size: 0, digits: 0, overhead: 0 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == At::End
    }

    /// Decodes a piece: gives how many bytes were used up and which of them are data. Stops
    /// behind each run of data and at the end of the message.
    pub(super) fn step(&mut self, piece: &[u8]) -> Result<(usize, std::ops::Range<usize>), BadChunk> {
        let mut used = 0;
        while used < piece.len() && !self.is_done() {
            if let At::Data(left) = self.at {
                let run = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len() - used));
                let run = run.min(piece.len() - used);
                self.at = match left - run as u64 {
                    0 => At::DataEnd,
                    rest => At::Data(rest),
                };
                return Ok((used + run, used..used + run));
            }
            self.byte(piece[used])?;
            used += 1;
        }
        Ok((used, used..used))
    }

    fn byte(&mut self, byte: u8) -> Result<(), BadChunk> {
        self.overhead += 1;
        match self.at {
            At::Size => self.size_byte(byte)?,
            At::Extension => {
                if byte == b'\n' {
                    self.end_size_line();
                }
            }
            At::DataEnd => match byte {
                b'\r' if self.overhead == 1 => {}
                b'\n' => self.next_chunk(),
                _ => return Err(BadChunk),
            },
            At::Trailer { line_is_empty } => match byte {
                b'\n' if line_is_empty => self.at = At::End,
                b'\n' => self.at = At::Trailer { line_is_empty: true },
                b'\r' => {}
                _ => self.at = At::Trailer { line_is_empty: false },
            },
            At::Data(_) | At::End => {}
        }
        let limit = match self.at {
            At::Trailer { .. } => MAX_TRAILERS,
            _ => MAX_LINE,
        };
        if self.overhead > limit {
            return Err(BadChunk);
        }
        Ok(())
    }

    fn size_byte(&mut self, byte: u8) -> Result<(), BadChunk> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ if self.digits == 0 => return Err(BadChunk),
            b'\n' => {
                self.end_size_line();
                return Ok(());
            }
            b'\r' | b';' | b' ' | b'\t' => {
                self.at = At::Extension;
                return Ok(());
            }
            _ => return Err(BadChunk),
        };
        self.digits += 1;
        if self.size >> 60 != 0 {
            return Err(BadChunk);
        }
        self.size = self.size << 4 | u64::from(digit);
        Ok(())
    }

    fn end_size_line(&mut self) {
        self.overhead = 0;
        self.at = match self.size {
            0 => At::Trailer { line_is_empty: true },
            size => At::Data(size),
        };
    }

    fn next_chunk(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes `wire` cut into pieces of `piece` bytes; gives the data and what was left over.
    fn decode(wire: &[u8], piece: usize) -> Result<(Vec<u8>, usize), BadChunk> {
        let (mut chunked, mut data, mut at) = (Chunked::new(), Vec::new(), 0);
        while at < wire.len() && !chunked.is_done() {
            let part = &wire[at..(at + piece).min(wire.len())];
            let (used, run) = chunked.step(part)?;
            data.extend_from_slice(&part[run]);
            at += used;
        }
        Ok((data, wire.len() - at))
    }

    #[test]
    fn extensions_and_trailers_are_skipped_and_the_rest_is_left_over() {
        let wire = b"4;a=b\r\nwiki\r\n5 \r\npedia\r\n0\r\nX-T: 1\r\n\r\nleft";
        assert_eq!(decode(wire, 3), Ok((b"wikipedia".to_vec(), 4)));
    }

    #[test]
    fn broken_codings_are_told() {
        for wire in [&b"\r\n"[..], b"x\r\n", b"-1\r\n", b"0x4\r\n", b"2\r\nabc", b"11111111111111111\r\n"] {
            assert_eq!(decode(wire, 64), Err(BadChunk), "{:?}", String::from_utf8_lossy(wire));
        }
        let endless = [b"1;".to_vec(), vec![b'x'; 2000]].concat();
        assert_eq!(decode(&endless, 64), Err(BadChunk));
    }

    proptest! {
        #[test]
        fn whatever_was_encoded_is_decoded_however_it_is_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            piece in 1usize..50,
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(decode(&wire, piece), Ok((chunks.concat(), 0)));
        }
    }
}
