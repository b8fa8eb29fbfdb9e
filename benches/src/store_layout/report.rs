//! The report: a Markdown table for people, JSON for comparisons.

use serde_json::json;

use crate::layout::BODY;
use crate::measure::{Edge, Measured, Plan};

/// Two Markdown tables, rates and bytes written: a line per layout, a column per size of commit.
pub fn table(plan: &Plan, rows: &[Measured]) -> String {
    let rates = grid(rows, |edge| format!("{:.1} k", edge.rate / 1000.0));
    let bytes = grid(rows, |edge| edge.bytes.map_or("?".into(), |bytes| format!("{:.1} kB", bytes / 1000.0)));
    format!("{}\n\nDeliveries per second:\n\n{rates}\n\nWritten per delivery:\n\n{bytes}", heading(plan))
}

fn grid(rows: &[Measured], show: impl Fn(&Edge) -> String) -> String {
    let mut sizes: Vec<usize> = rows.iter().map(|row| row.operations).collect();
    sizes.dedup();
    let mut layouts: Vec<&str> = Vec::new();
    for row in rows {
        if !layouts.contains(&row.layout) {
            layouts.push(row.layout);
        }
    }

    let mut text = String::from("| layout |");
    sizes.iter().for_each(|size| text.push_str(&format!(" {size} a commit |")));
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(sizes.len()));
    for layout in layouts {
        text.push_str(&format!("\n| {layout} |"));
        for row in rows.iter().filter(|row| row.layout == layout) {
            text.push_str(&format!(" {} → {} |", show(&row.start), show(&row.end)));
        }
    }
    text
}

/// The same as one JSON object; rates are in deliveries per second, bytes per delivery.
pub fn json(plan: &Plan, rows: &[Measured]) -> String {
    let rates: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "layout": row.layout,
                "operations_per_commit": row.operations,
                "start_per_s": row.start.rate.round(),
                "end_per_s": row.end.rate.round(),
                "start_bytes": row.start.bytes.map(f64::round),
                "end_bytes": row.end.bytes.map(f64::round),
            })
        })
        .collect();
    json!({
        "sqlite": rusqlite::version(),
        "cores": cores(),
        "deliveries": plan.deliveries,
        "endpoints": plan.endpoints,
        "body_bytes": BODY.len(),
        "slice_rows": plan.slice_rows,
        "rates": rates,
    })
    .to_string()
}

fn heading(plan: &Plan) -> String {
    format!(
        "SQLite {}, {} cores, {} endpoints, {}-byte bodies; by operations per commit, from empty → after {} deliveries.",
        rusqlite::version(),
        cores(),
        plan.endpoints,
        BODY.len(),
        plan.deliveries,
    )
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan { deliveries: 50_000, endpoints: 10, slice_rows: 300, dir: "/".into() }
    }

    fn rows() -> Vec<Measured> {
        let row = |layout, operations, rate| Measured {
            layout,
            operations,
            start: Edge { rate, bytes: Some(rate * 3.0) },
            end: Edge { rate: rate / 2.0, bytes: None },
        };
        vec![row("a", 20, 1000.0), row("b", 20, 2000.0), row("a", 100, 3000.0), row("b", 100, 4000.0)]
    }

    #[test]
    fn a_layout_is_a_line_and_a_size_a_column() {
        let text = table(&plan(), &rows());
        assert!(text.contains("| layout | 20 a commit | 100 a commit |\n|---|---|---|\n"), "{text}");
        let rates = "\n| a | 1.0 k → 0.5 k | 3.0 k → 1.5 k |\n| b | 2.0 k → 1.0 k | 4.0 k → 2.0 k |\n";
        assert!(text.contains(rates), "{text}");
        assert!(text.ends_with("\n| b | 6.0 kB → ? | 12.0 kB → ? |"), "{text}");
    }

    #[test]
    fn json_has_every_rate() {
        let value: serde_json::Value = serde_json::from_str(&json(&plan(), &rows())).unwrap();
        assert_eq!(value["rates"].as_array().unwrap().len(), 4);
        assert_eq!(value["rates"][3]["end_per_s"], 2000.0);
    }
}
