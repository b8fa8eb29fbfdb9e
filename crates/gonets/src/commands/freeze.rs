//! `gonets freeze` and `gonets thaw`: sending stops, and goes on, for an application, an environment or
//! all; accepting goes on meanwhile.

use http::Method;
use serde_json::json;

use super::print_json;
use crate::{
    client::{Api, ApiFlags, segment},
    error::Error,
    runtime,
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    what: What,
    /// One JSON value instead of a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiFlags,
}

/// One of the three, and said: a freeze by mistake would be an outage.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct What {
    /// The application's id or uid
    app: Option<String>,
    /// The whole environment of the key
    #[arg(long)]
    environment: bool,
    /// The whole installation
    #[arg(long)]
    all: bool,
}

impl What {
    fn path(&self) -> String {
        match &self.app {
            Some(app) => format!("/app/{}/freeze", segment(app)),
            None if self.environment => "/environment/freeze".to_owned(),
            None => "/freeze".to_owned(),
        }
    }

    fn scope(&self) -> &'static str {
        match self.app {
            Some(_) => "application",
            None if self.environment => "environment",
            None => "everything",
        }
    }
}

impl Arguments {
    pub fn freeze(self) -> Result<(), Error> {
        self.order(Method::POST, true, "frozen: messages are accepted and wait until `gonets thaw`")
    }

    pub fn thaw(self) -> Result<(), Error> {
        self.order(Method::DELETE, false, "thawed: what waited goes out, paced")
    }

    fn order(self, method: Method, frozen: bool, told: &str) -> Result<(), Error> {
        let api = Api::of(&self.api)?;
        runtime::on_one_thread(api.order(method, &self.what.path(), &json!({})))?;
        if self.json {
            return print_json(&json!({ "scope": self.what.scope(), "frozen": frozen }));
        }
        let name = self.what.app.as_deref().unwrap_or(self.what.scope());
        Terminal::of_process().line(format_args!("{name}  {told}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser, Debug)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn path(line: &str) -> Option<String> {
        Some(Line::try_parse_from(line.split(' ')).ok()?.arguments.what.path())
    }

    #[test]
    fn what_is_frozen_is_said_and_is_one_thing() {
        assert_eq!(path("freeze shop/1").as_deref(), Some("/app/shop%2F1/freeze"));
        assert_eq!(path("freeze --environment").as_deref(), Some("/environment/freeze"));
        assert_eq!(path("freeze --all").as_deref(), Some("/freeze"));
        for unclear in ["freeze", "freeze shop --all", "freeze --environment --all"] {
            assert_eq!(path(unclear), None, "{unclear}");
        }
    }
}
