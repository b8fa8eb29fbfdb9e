//! `gonets key create|list|revoke`: admin keys, of a running server over its API, or in the data
//! directory of a stopped one.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{asks_a_server, on_directory, plain, print_json};
use crate::{
    client::{Api, ApiFlags, segment},
    config::ConfigFlags,
    error::Error,
    installation::DEFAULT_ENVIRONMENT,
    runtime,
    terminal::Terminal,
};

#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make a key; its token is shown once
    Create {
        /// What it is for
        name: String,
        #[command(flatten)]
        on: Flags,
    },
    /// List the keys, without their tokens
    List(Flags),
    /// End a key for good
    Revoke {
        /// As `key list` shows it
        id: String,
        #[command(flatten)]
        on: Flags,
    },
}

#[derive(clap::Args, Debug)]
struct Flags {
    #[command(flatten)]
    api: ApiFlags,
    #[command(flatten)]
    config: ConfigFlags,
    /// The environment, on a data directory; over the API it is the token's
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ENVIRONMENT)]
    env: String,
    /// One JSON value instead of lines
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        match self.action {
            Action::Create { name, on } => create(&name, &on),
            Action::List(on) => list(&on),
            Action::Revoke { id, on } => revoke(&id, &on),
        }
    }
}

fn create(name: &str, on: &Flags) -> Result<(), Error> {
    let made = if asks_a_server(&on.api, &on.config) {
        let api = Api::of(&on.api)?;
        runtime::on_one_thread(api.post::<Value>("/key", &json!({ "name": name })))?
    } else {
        on_directory(&on.config, |installation| {
            let environment = installation.environment(&on.env)?.no;
            let (key, token) = installation.create_key(environment, name)?;
            let mut made = serde_json::to_value(&key).map_err(Error::NotJson)?;
            made["token"] = token.into();
            Ok(made)
        })?
    };
    if on.json {
        return print_json(&made);
    }
    Terminal::of_process().line(format_args!("{}  {}", plain(&made["id"]), plain(&made["token"])));
    Ok(())
}

fn list(on: &Flags) -> Result<(), Error> {
    let keys = if asks_a_server(&on.api, &on.config) {
        let api = Api::of(&on.api)?;
        let page: Value = runtime::on_one_thread(api.get("/key?limit=250"))?;
        page["data"].clone()
    } else {
        on_directory(&on.config, |installation| {
            let environment = installation.environment(&on.env)?.no;
            serde_json::to_value(installation.keys(environment)?).map_err(Error::NotJson)
        })?
    };
    if on.json {
        return print_json(&keys);
    }
    for key in keys.as_array().into_iter().flatten() {
        let fields = ["id", "createdAt", "hint", "name"].map(|name| plain(&key[name]));
        Terminal::of_process().line(fields.join("  "));
    }
    Ok(())
}

fn revoke(id: &str, on: &Flags) -> Result<(), Error> {
    if asks_a_server(&on.api, &on.config) {
        let api = Api::of(&on.api)?;
        let path = format!("/key/{}", segment(id));
        runtime::on_one_thread(async { api.delete(&path).await })?;
    } else {
        on_directory(&on.config, |installation| {
            let environment = installation.environment(&on.env)?.no;
            installation.revoke_key(environment, id)
        })?;
    }
    if !on.json {
        Terminal::of_process().line(format_args!("{id}  revoked"));
    }
    Ok(())
}
