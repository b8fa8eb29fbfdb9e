//! A timeline as a table: one attempt to a line, then how it ends.

use gonets_core::outcome::Outcome;
use gonets_dispatch::simulate::{Attempt, End, Timeline};

use super::spoken;
use crate::terminal::{Terminal, Tone};

const HEAD: [&str; 5] = ["", "after", "answer", "outcome", "set by"];

pub(super) fn lines(terminal: Terminal, timeline: &Timeline) -> Vec<String> {
    let rows: Vec<[String; 5]> = timeline.attempts.iter().enumerate().map(row).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.chain([HEAD[column].len()]).max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3, 4].map(width);
    let mut lines = vec![terminal.paint(Tone::Faint, laid(&HEAD.map(str::to_owned), widths))];
    let painted =
        |(row, attempt): (&[String; 5], &Attempt)| terminal.paint(tone(attempt.outcome), laid(row, widths));
    lines.extend(rows.iter().zip(&timeline.attempts).map(painted));
    lines.push(String::new());
    lines.push(end(terminal, timeline));
    lines
}

fn row((at, attempt): (usize, &Attempt)) -> [String; 5] {
    let rule = attempt.rule.map_or_else(|| "-".to_owned(), |rule| rule.name().replace('_', " "));
    let by = if attempt.probe { format!("{rule}, probe") } else { rule };
    [
        (at + 1).to_string(),
        spoken(attempt.at),
        attempt.meets.to_string(),
        attempt.outcome.name().to_owned(),
        by,
    ]
}

fn laid(row: &[String; 5], widths: [usize; 5]) -> String {
    let [number, after, answer, outcome, by] = row;
    let [n, a, m, o, _] = widths;
    format!("{number:>n$}  {after:<a$}  {answer:<m$}  {outcome:<o$}  {by}").trim_end().to_owned()
}

fn end(terminal: Terminal, timeline: &Timeline) -> String {
    let after = spoken(timeline.ended_at);
    match timeline.end {
        End::Delivered => terminal.paint(Tone::Good, format!("delivered after {after}")),
        End::Failed(reason) => {
            terminal.paint(Tone::Bad, format!("failed after {after}: {}", reason.sentence()))
        }
        End::Held(hold) => terminal.paint(Tone::Waiting, format!("held since {after}: {}", hold.sentence())),
        End::Unfinished => terminal.paint(Tone::Waiting, format!("cut after {after}: there would be more")),
    }
}

pub(super) const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Delivered => Tone::Good,
        Outcome::Refused | Outcome::Gone | Outcome::Misdirected => Tone::Bad,
        Outcome::Throttled | Outcome::Unavailable | Outcome::Blocked | Outcome::Interrupted => Tone::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gonets_core::rule::{Reason, Rule};

    use super::*;

    fn attempt(seconds: u64, meets: &str, outcome: Outcome, rule: Option<Rule>) -> Attempt {
        let at = Duration::from_secs(seconds);
        Attempt { at, meets: meets.parse().unwrap(), outcome, probe: rule == Some(Rule::Breaker), rule }
    }

    #[test]
    fn an_attempt_is_a_line_and_the_end_a_sentence() {
        let timeline = Timeline {
            attempts: vec![
                attempt(0, "500", Outcome::Unavailable, None),
                attempt(1, "timeout", Outcome::Unavailable, Some(Rule::OutageLadder)),
                attempt(316, "200", Outcome::Delivered, Some(Rule::Breaker)),
            ],
            end: End::Delivered,
            ended_at: Duration::from_secs(316),
        };
        assert_eq!(
            lines(Terminal::plain(), &timeline),
            [
                "   after       answer   outcome      set by",
                "1  0 s         500      unavailable  -",
                "2  1 s         timeout  unavailable  outage ladder",
                "3  5 min 16 s  200      delivered    breaker, probe",
                "",
                "delivered after 5 min 16 s",
            ]
        );
        let failed = Timeline { end: End::Failed(Reason::OutageExhausted), ..timeline };
        let last = lines(Terminal::plain(), &failed).pop();
        assert_eq!(last.as_deref(), Some("failed after 5 min 16 s: the outage ladder is spent"));
    }
}
