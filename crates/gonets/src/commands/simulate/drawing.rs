//! A timeline as a line: the first seconds are as wide as the last days, so that both can be seen.

use std::time::Duration;

use gonets_core::outcome::Outcome;
use gonets_dispatch::simulate::{End, Timeline};

use super::{spoken, table::tone};
use crate::terminal::{Terminal, Tone};

/// Columns of the line.
const WIDTH: usize = 72;
/// What may stand under it.
const TICKS: [(u64, &str); 9] = [
    (0, "0"),
    (1, "1 s"),
    (10, "10 s"),
    (60, "1 min"),
    (600, "10 min"),
    (3_600, "1 h"),
    (6 * 3_600, "6 h"),
    (86_400, "1 d"),
    (7 * 86_400, "7 d"),
];
const LEGEND: &str = "● delivered  ○ not delivered  ◇ not delivered, the breaker's probe  ✕ ended";

/// The line, its scale, and what the marks mean.
pub(super) fn lines(terminal: Terminal, timeline: &Timeline) -> Vec<String> {
    // What was held for days is drawn from where it began to be tried.
    let begin = timeline.attempts.first().map_or(Duration::ZERO, |first| first.at);
    let end = timeline.ended_at.saturating_sub(begin);
    let mut line: Vec<(char, Tone)> = vec![('─', Tone::Faint); WIDTH];
    for attempt in &timeline.attempts {
        let mark = match (attempt.outcome, attempt.probe) {
            (Outcome::Delivered, _) => '●',
            (_, true) => '◇',
            (_, false) => '○',
        };
        line[column(attempt.at.saturating_sub(begin), end)] = (mark, tone(attempt.outcome));
    }
    if matches!(timeline.end, End::Failed(_)) {
        line[WIDTH - 1] = ('✕', Tone::Bad);
    }
    let painted = line.into_iter().map(|(mark, tone)| terminal.paint(tone, mark)).collect();
    let mut lines = vec![painted, terminal.paint(Tone::Faint, scale(end)), String::new()];
    if !begin.is_zero() {
        let held = format!("drawn from the first attempt, {} after acceptance", spoken(begin));
        lines.push(terminal.paint(Tone::Faint, held));
    }
    lines.push(terminal.paint(Tone::Faint, LEGEND));
    lines
}

/// Where an instant stands on a logarithmic scale from 0 to the end.
fn column(at: Duration, end: Duration) -> usize {
    let length = |span: Duration| span.as_secs_f64().ln_1p();
    let share = if end.is_zero() { 0.0 } else { length(at) / length(end) };
    ((share * (WIDTH - 1) as f64).round() as usize).min(WIDTH - 1)
}

/// The ticks that have room, each beginning at its place.
fn scale(end: Duration) -> String {
    let mut text = String::new();
    for (seconds, name) in TICKS {
        let at = Duration::from_secs(seconds);
        let place = column(at, end);
        let has_room = text.is_empty() || text.len() < place;
        if at <= end && has_room && place + name.len() <= WIDTH + 4 {
            text.push_str(&" ".repeat(place - text.len()));
            text.push_str(name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use gonets_core::rule::Reason;
    use gonets_dispatch::simulate::Attempt;

    use super::*;

    fn drawn(seconds: &[u64], end: End, ended_at: u64) -> Vec<String> {
        let attempt = |at: &u64| Attempt {
            at: Duration::from_secs(*at),
            meets: "500".parse().unwrap(),
            outcome: if end == End::Delivered && *at == ended_at {
                Outcome::Delivered
            } else {
                Outcome::Unavailable
            },
            probe: *at == 300,
            rule: None,
        };
        let attempts = seconds.iter().map(attempt).collect();
        lines(Terminal::plain(), &Timeline { attempts, end, ended_at: Duration::from_secs(ended_at) })
    }

    #[test]
    fn seconds_and_days_stand_on_one_line() {
        let lines = drawn(&[0, 1, 300, 100_000], End::Delivered, 100_000);
        assert_eq!(lines[0].chars().count(), WIDTH);
        assert!(lines[0].starts_with("○───○──") && lines[0].ends_with('●'), "{}", lines[0]);
        assert_eq!(lines[0].chars().filter(|mark| *mark == '◇').count(), 1);
        assert!(lines[1].starts_with("0   1 s") && lines[1].ends_with("1 d"), "{}", lines[1]);
    }

    #[test]
    fn what_was_held_for_days_is_drawn_from_its_first_attempt() {
        let lines = drawn(&[518_400, 518_401, 519_300], End::Delivered, 519_300);
        assert!(lines[0].starts_with('○') && lines[1].starts_with("0      1 s"), "{lines:?}");
        assert_eq!(lines[3], "drawn from the first attempt, 6 d after acceptance");
    }

    #[test]
    fn a_delivery_that_ends_at_once_is_drawn_too() {
        assert!(drawn(&[0], End::Delivered, 0)[0].starts_with('●'));
        assert!(drawn(&[0], End::Failed(Reason::Refused), 0)[0].ends_with('✕'));
    }
}
