//! The books at the end: what the receivers saw against what the API says. Neither side is asked
//! to vouch for itself.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;

use super::partners::{Partners, Sights};
use crate::{client::Api, error::Error};

/// The sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    pub messages: usize,
    pub delivered: usize,
    pub failed: usize,
    pub waiting: usize,
    pub attempts: usize,
    /// Deliveries that the receiver verified and took.
    pub verified: usize,
    /// Delivered, says the API; never taken, say the receivers.
    pub lost: usize,
    /// Requests whose signature was not right.
    pub unverified: usize,
    /// Deliveries that were taken more than once.
    pub duplicates: usize,
}

#[derive(Deserialize)]
struct Page<T> {
    data: Vec<T>,
}

#[derive(Deserialize)]
struct Delivery {
    /// 0 success, 1 pending, 2 fail, 3 sending, 4 canceled.
    status: u8,
}

impl Books {
    /// Asks the API about each message, and the receivers.
    ///
    /// # Errors
    /// As the API's.
    pub async fn balance(
        api: &Api,
        partners: &Partners,
        posted: &BTreeMap<String, &'static str>,
    ) -> Result<Self, Error> {
        let mut said = Vec::new();
        for (id, partner) in posted {
            let deliveries: Page<Delivery> = api.get(&format!("/app/{partner}/msg/{id}/endpoint")).await?;
            let attempts: Page<serde_json::Value> =
                api.get(&format!("/app/{partner}/attempt/msg/{id}?limit=250")).await?;
            let statuses = deliveries.data.iter().map(|delivery| delivery.status).collect();
            said.push((id.clone(), *partner, statuses, attempts.data.len()));
        }
        Ok(Self::add_up(&said, &partners.sights()))
    }

    /// `said`: by message its partner, the statuses of its deliveries and its attempts.
    fn add_up(said: &[(String, &'static str, Vec<u8>, usize)], sights: &Sights) -> Self {
        let mut books = Self { messages: said.len(), ..Self::default() };
        for (id, partner, statuses, attempts) in said {
            let seen = sights.get(&(*partner, id.clone())).copied().unwrap_or_default();
            let delivered = statuses.iter().filter(|status| **status == 0).count();
            let failed = statuses.iter().filter(|status| matches!(status, 2 | 4)).count();
            books.delivered += delivered;
            books.failed += failed;
            books.waiting += statuses.len() - delivered - failed;
            books.attempts += attempts;
            books.verified += usize::from(seen.taken > 0 && seen.verified == seen.requests);
            books.lost += usize::from(statuses.is_empty() || (delivered > 0 && seen.taken == 0));
            books.duplicates += usize::from(seen.taken > 1);
        }
        books.unverified = sights.values().map(|sight| (sight.requests - sight.verified) as usize).sum();
        books
    }

    /// Whether every message was delivered, verified, once.
    ///
    /// # Errors
    /// What is wrong, with the numbers.
    pub fn verdict(&self) -> Result<(), Error> {
        let wrong = [
            (self.lost, "lost"),
            (self.unverified, "not verified"),
            (self.duplicates, "taken twice"),
            (self.failed, "failed"),
            (self.waiting, "still waiting"),
            (self.delivered.abs_diff(self.verified), "not seen alike by API and receivers"),
        ];
        let told: Vec<_> =
            wrong.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if !told.is_empty() {
            return Err(Error::Demo(told.join(", ")));
        }
        if self.messages == 0 {
            return Err(Error::Demo("nothing was posted".to_owned()));
        }
        Ok(())
    }
}

impl fmt::Display for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deliveries = self.delivered + self.failed + self.waiting;
        write!(
            f,
            "{} messages · {deliveries} deliveries: {} delivered, {} failed, {} waiting · {} attempts · signatures verified: {}",
            self.messages, self.delivered, self.failed, self.waiting, self.attempts, self.verified
        )?;
        if self.duplicates > 0 {
            write!(f, " · taken twice: {}", self.duplicates)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::partners::Sight;

    fn add_up(status: u8, sight: Sight) -> Books {
        let said = [("msg_1".to_owned(), "flaky", vec![status], 3)];
        Books::add_up(&said, &Sights::from([(("flaky", "msg_1".to_owned()), sight)]))
    }

    #[test]
    fn a_message_that_both_sides_know_as_delivered_balances() {
        let books = add_up(0, Sight { requests: 3, verified: 3, taken: 1 });
        assert!(books.verdict().is_ok());
        assert_eq!(
            books.to_string(),
            "1 messages · 1 deliveries: 1 delivered, 0 failed, 0 waiting · 3 attempts · signatures verified: 1"
        );
    }

    #[test]
    fn whatever_is_wrong_is_told() {
        for (status, sight, told) in [
            (0, Sight::default(), "1 lost"),
            (0, Sight { requests: 2, verified: 1, taken: 1 }, "1 not verified"),
            (0, Sight { requests: 2, verified: 2, taken: 2 }, "1 taken twice"),
            (2, Sight { requests: 2, verified: 2, taken: 0 }, "1 failed"),
            (3, Sight { requests: 1, verified: 1, taken: 0 }, "1 still waiting"),
        ] {
            let error = add_up(status, sight).verdict().unwrap_err().to_string();
            assert!(error.contains(told), "{told}: {error}");
        }
        assert!(Books::default().verdict().is_err(), "a demo of nothing shows nothing");
    }
}
