//! The status of a delivery as the API tells it: five words for many states.

use gonets_core::time::Timestamp;
use gonets_store::record::{DeliveryRecord, DeliveryState, SettledState};

/// What stands of a message at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Success = 0,
    /// Not yet tried, or held.
    Pending = 1,
    Fail = 2,
    /// Will be tried again.
    Sending = 3,
    Canceled = 4,
}

impl Status {
    pub const ALL: [Self; 5] = [Self::Success, Self::Pending, Self::Fail, Self::Sending, Self::Canceled];

    pub const fn code(self) -> u8 {
        self as u8
    }

    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }

    /// The lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Pending => "pending",
            Self::Fail => "fail",
            Self::Sending => "sending",
            Self::Canceled => "canceled",
        }
    }

    /// The status of a delivery, and when it is tried next: nothing is, where it is held at a
    /// disabled endpoint, and a time that is over says nothing about when.
    pub(super) fn of(
        delivery: &DeliveryRecord,
        is_disabled: bool,
        now: Timestamp,
    ) -> (Self, Option<Timestamp>) {
        match delivery.state {
            DeliveryState::Fresh => (Self::Pending, None),
            DeliveryState::Waiting { .. } if is_disabled => (Self::Pending, None),
            DeliveryState::Waiting { due, .. } => {
                let status = if delivery.progress.attempts > 0 { Self::Sending } else { Self::Pending };
                (status, Some(due).filter(|due| *due > now))
            }
            DeliveryState::Settled { state, .. } => (
                match state {
                    SettledState::Delivered => Self::Success,
                    SettledState::Failed => Self::Fail,
                    SettledState::Cancelled | SettledState::Skipped => Self::Canceled,
                },
                None,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use gonets_core::{
        ids::{EndpointNo, MessageId},
        progress::Progress,
        rule::Rule,
    };

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(5);

    fn delivery(attempts: u32, state: DeliveryState) -> DeliveryRecord {
        let progress = Progress { attempts, ..Progress::default() };
        DeliveryRecord { message: MessageId(1), endpoint: EndpointNo(2), progress, state }
    }

    fn status(attempts: u32, state: DeliveryState) -> (Status, Option<Timestamp>) {
        Status::of(&delivery(attempts, state), false, NOW)
    }

    #[test]
    fn what_is_held_at_a_disabled_endpoint_is_pending_without_a_time() {
        for due in [Timestamp::from_millis(1), Timestamp::from_millis(9)] {
            let waiting = delivery(3, DeliveryState::Waiting { due, rule: Rule::OutageLadder });
            assert_eq!(Status::of(&waiting, true, NOW), (Status::Pending, None));
        }
        let fresh = delivery(0, DeliveryState::Fresh);
        assert_eq!(Status::of(&fresh, true, NOW), (Status::Pending, None));
        let cancelled = DeliveryState::Settled {
            state: SettledState::Cancelled,
            reason: None,
            at: NOW,
            last_status: None,
        };
        assert_eq!(Status::of(&delivery(3, cancelled), true, NOW), (Status::Canceled, None));
    }

    #[test]
    fn a_time_that_is_over_is_not_told_as_the_next() {
        let over = DeliveryState::Waiting { due: NOW, rule: Rule::OutageLadder };
        assert_eq!(status(1, over), (Status::Sending, None));
    }

    #[test]
    fn each_state_of_a_delivery_has_its_status() {
        let due = Timestamp::from_millis(9);
        let waiting = DeliveryState::Waiting { due, rule: Rule::OutageLadder };
        assert_eq!(status(0, DeliveryState::Fresh), (Status::Pending, None));
        assert_eq!(status(1, waiting), (Status::Sending, Some(due)));
        assert_eq!(status(0, waiting), (Status::Pending, Some(due)));
        for (state, expected) in [
            (SettledState::Delivered, Status::Success),
            (SettledState::Failed, Status::Fail),
            (SettledState::Cancelled, Status::Canceled),
            (SettledState::Skipped, Status::Canceled),
        ] {
            let settled = DeliveryState::Settled { state, reason: None, at: due, last_status: None };
            assert_eq!(status(3, settled), (expected, None));
        }
    }

    #[test]
    fn codes_and_names_are_those_of_the_sdks() {
        let table: Vec<_> = Status::ALL.map(|status| (status.code(), status.name())).into();
        assert_eq!(table, [(0, "success"), (1, "pending"), (2, "fail"), (3, "sending"), (4, "canceled")]);
        assert_eq!(Status::from_code(5), None);
    }
}
