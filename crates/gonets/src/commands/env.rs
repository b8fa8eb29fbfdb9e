//! `gonets env create|list`: environments, of a running server over its API, or in the data
//! directory of a stopped one. Either way they are shown in the API's form.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{asks_a_server, on_directory, print_json};
use crate::{
    client::{Api, ApiFlags},
    config::ConfigFlags,
    error::Error,
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
    /// Make an environment and its first admin key
    Create {
        /// Letters, digits, "-", "_" and "."
        name: String,
        #[command(flatten)]
        on: Flags,
    },
    /// List the environments
    List(Flags),
}

#[derive(clap::Args, Debug)]
struct Flags {
    #[command(flatten)]
    api: ApiFlags,
    #[command(flatten)]
    config: ConfigFlags,
    /// One JSON value instead of lines
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<(), Error> {
        match self.action {
            Action::Create { name, on } => create(&name, &on),
            Action::List(on) => list(&on),
        }
    }
}

fn create(name: &str, on: &Flags) -> Result<(), Error> {
    let made = if asks_a_server(&on.api, &on.config) {
        let api = Api::of(&on.api)?;
        runtime::on_one_thread(api.post::<Value>("/environment", &json!({ "name": name })))?
    } else {
        on_directory(&on.config, |installation| {
            let environment = installation.create_environment(name)?;
            let (key, token) = installation.create_key(environment.no, "made with the environment")?;
            let mut made = serde_json::to_value(&environment).map_err(Error::NotJson)?;
            made["key"] = serde_json::to_value(&key).map_err(Error::NotJson)?;
            made["key"]["token"] = token.into();
            Ok(made)
        })?
    };
    if on.json {
        return print_json(&made);
    }
    print(&made);
    let token = made["key"]["token"].as_str().unwrap_or("-");
    Terminal::of_process().line(format_args!("Its admin key, shown this once: {token}"));
    Ok(())
}

fn list(on: &Flags) -> Result<(), Error> {
    let environments = if asks_a_server(&on.api, &on.config) {
        let api = Api::of(&on.api)?;
        let page: Value = runtime::on_one_thread(api.get("/environment"))?;
        page["data"].clone()
    } else {
        on_directory(&on.config, |installation| {
            serde_json::to_value(installation.environments()?).map_err(Error::NotJson)
        })?
    };
    if on.json {
        return print_json(&environments);
    }
    environments.as_array().into_iter().flatten().for_each(print);
    Ok(())
}

fn print(environment: &Value) {
    let fields = ["id", "createdAt", "name"].map(|name| environment[name].as_str().unwrap_or("-"));
    Terminal::of_process().line(fields.join("  "));
}
