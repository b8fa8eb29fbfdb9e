//! The timeline that a profile would give: from the same machine that delivers.

use std::{sync::Arc, time::Duration};

use gonets_dispatch::simulate::{Meets, Plan, Script, Timeline, simulate};

use crate::{access::Admin, error::Error, field::Fields, service::Service};

/// Answers that one simulation may have.
const ANSWERS: usize = 500;
/// The longest that a message may be held: ten years.
const HELD_MAX_S: u32 = 10 * 366 * 24 * 3600;

/// What is to be simulated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simulation {
    pub profile: String,
    pub critical: bool,
    /// What the endpoint answers, attempt after attempt: `200`, `429:30`, `timeout`, `network`, ….
    pub outcomes: Vec<String>,
    /// What it answers after that; the last of them if not said.
    pub repeat: Option<String>,
    /// Seconds that the message waits for an endpoint first (R18).
    pub held_until_s: Option<u32>,
}

impl Service {
    /// Plays a script of answers against a profile. Nothing is sent or kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a profile that there is not, and answers that no endpoint gives.
    pub async fn simulate(&self, _who: &Admin, wish: Simulation) -> Result<Timeline, Error> {
        let plan = self.plan(&wish)?;
        // Thousands of attempts take a while, and others wait for this thread.
        tokio::task::spawn_blocking(move || simulate(&plan)).await.map_err(Error::internal)
    }

    fn plan(&self, wish: &Simulation) -> Result<Plan, Error> {
        let mut fields = Fields::default();
        let profiles = &self.directory().context().profiles;
        let profile = profiles.get(&wish.profile);
        if profile.is_none() {
            let all: Vec<_> = profiles.iter().map(|known| known.name.as_str()).collect();
            let name = crate::field::shown(&wish.profile);
            fields.wrong("profile", format!("there is no profile \"{name}\". There are {}.", all.join(", ")));
        }
        fields.within("heldUntil", wish.held_until_s, 0, HELD_MAX_S);
        let script = script(&mut fields, wish);
        fields.done()?;
        let (Some(profile), Some(script)) = (profile, script) else {
            return Err(Error::internal("a simulation that was neither taken nor refused"));
        };
        Ok(Plan {
            profile: Arc::clone(profile),
            critical: wish.critical,
            script,
            held_for: Duration::from_secs(wish.held_until_s.unwrap_or(0).into()),
        })
    }
}

fn script(fields: &mut Fields, wish: &Simulation) -> Option<Script> {
    if wish.outcomes.len() > ANSWERS {
        let count = wish.outcomes.len();
        fields.wrong("outcomes", format!("outcomes has {count} entries, and at most {ANSWERS} are taken."));
        return None;
    }
    let mut answers = Vec::with_capacity(wish.outcomes.len());
    for text in &wish.outcomes {
        answers.extend(fields.check("outcomes", text.parse::<Meets>()));
    }
    let repeat = match &wish.repeat {
        Some(text) => Some(fields.check("repeat", text.parse::<Meets>())?),
        None => None,
    };
    let script = Script::new(answers, repeat);
    if script.is_none() && wish.outcomes.is_empty() {
        fields.wrong("outcomes", "outcomes is empty. Give at least one answer, or repeat.");
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(outcomes: &[&str], repeat: Option<&str>) -> String {
        let wish = Simulation {
            outcomes: outcomes.iter().map(|text| (*text).to_owned()).collect(),
            repeat: repeat.map(str::to_owned),
            ..Simulation::default()
        };
        let mut fields = Fields::default();
        let script = script(&mut fields, &wish);
        let problems = fields.done().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            script.is_none(),
            problems.contains("empty") || problems.contains("at most 500") || repeat == Some("x")
        );
        problems
    }

    #[test]
    fn a_script_has_an_answer_and_only_answers_that_there_are() {
        assert_eq!(problems(&["500", "429:30", "timeout"], None), "");
        assert_eq!(problems(&[], Some("500")), "");
        assert!(problems(&[], None).contains("outcomes is empty"));
        assert!(problems(&["500", "no"], None).starts_with("\"no\" is no answer"));
        assert!(problems(&["500"], Some("x")).starts_with("\"x\" is no answer"));
        assert!(problems(&["500"; 501], None).contains("at most 500"));
    }
}
