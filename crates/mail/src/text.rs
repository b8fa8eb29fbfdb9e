//! The words of a mail. Each language has its own functions: sentences differ by more than words.

mod english;
mod russian;

use gonets_core::{notice::NoticeKind, time::Timestamp};

use crate::{
    digest::{Digest, Group},
    settings::Language,
};

/// Lines of one mail; what is beyond them is counted.
const LINES: usize = 40;

/// The subject and the body of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub subject: String,
    pub body: String,
}

/// What each language says.
trait Words {
    fn subject(&self, application: &str, worst: NoticeKind) -> String;
    fn opening(&self, application: &str) -> String;
    /// One line about what happened.
    fn line(&self, group: &Group<'_>) -> String;
    /// What the reader can do about it, if anything.
    fn advice(&self, kind: NoticeKind) -> Option<&'static str>;
    fn more(&self, many: u64) -> String;
    fn where_to_look(&self, url: &str) -> String;
    fn closing(&self) -> &'static str;
}

/// Writes a digest.
pub fn write(digest: &Digest, language: Language, public_url: Option<&str>) -> Text {
    match language {
        Language::English => write_with(&english::English, digest, public_url),
        Language::Russian => write_with(&russian::Russian, digest, public_url),
    }
}

fn write_with(words: &impl Words, digest: &Digest, public_url: Option<&str>) -> Text {
    let groups = digest.groups();
    let application = one_line(&digest.application);
    let worst = groups.iter().map(|group| group.last.kind).min_by_key(|kind| rank(*kind));
    let subject = words.subject(&application, worst.unwrap_or(NoticeKind::EndpointFailing));
    let mut body = format!("{}\n\n", words.opening(&application));
    for group in groups.iter().take(LINES) {
        body.push_str(&format!("- {}\n", one_line(&words.line(group))));
    }
    let more = digest.more + groups.len().saturating_sub(LINES) as u64;
    if more > 0 {
        body.push_str(&format!("- {}\n", words.more(more)));
    }
    let mut kinds: Vec<_> = groups.iter().map(|group| group.last.kind).collect();
    kinds.sort_by_key(|kind| rank(*kind));
    let mut advice: Vec<_> = kinds.into_iter().filter_map(|kind| words.advice(kind)).collect();
    advice.dedup();
    for sentence in advice {
        body.push_str(&format!("\n{sentence}\n"));
    }
    if let Some(url) = public_url {
        body.push_str(&format!("\n{}\n", words.where_to_look(url)));
    }
    body.push_str(&format!("\n-- \n{}\n", words.closing()));
    Text { subject, body }
}

/// What matters most comes first.
fn rank(kind: NoticeKind) -> u8 {
    match kind {
        NoticeKind::EndpointDisabled => 0,
        NoticeKind::MessageExpired => 1,
        NoticeKind::MessageExpiring => 2,
        NoticeKind::AttemptExhausted => 3,
        NoticeKind::BreakerOpened => 4,
        NoticeKind::EndpointWarned => 5,
        NoticeKind::EndpointFailing => 6,
        NoticeKind::EndpointRecovered => 7,
        NoticeKind::BreakerClosed => 8,
        NoticeKind::EndpointEnabled => 9,
        _ => 10,
    }
}

/// Names come from producers and partners: none of them begins a line of its own.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `2026-12-01 12:05 UTC`
fn minute(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..16).unwrap_or_default())
}

#[cfg(test)]
mod tests;
