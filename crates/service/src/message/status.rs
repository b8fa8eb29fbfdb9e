//! The status of a delivery as the API tells it: five words for many states.

use gonets_core::time::Timestamp;
use gonets_store::record::{DeliveryRecord, DeliveryState, SettledState};

use super::held::LaneHold;

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

    /// The status of a delivery, and when it is tried next. What holds its lane counts for what is due
    /// before the hold ends, and a time that is over says nothing about when.
    pub(super) fn of(
        delivery: &DeliveryRecord,
        held: Option<LaneHold>,
        now: Timestamp,
    ) -> (Self, Option<Timestamp>) {
        let future = |at: Option<Timestamp>| at.filter(|at| *at > now);
        let until = held.and_then(|held| held.until);
        match delivery.state {
            DeliveryState::Fresh => (Self::Pending, future(until)),
            DeliveryState::Waiting { due, .. } if held.is_some_and(|held| held.outlasts(due)) => {
                (Self::Pending, future(until))
            }
            DeliveryState::Waiting { due, .. } => {
                let status = if delivery.progress.attempts > 0 { Self::Sending } else { Self::Pending };
                (status, future(Some(due)))
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
        Status::of(&delivery(attempts, state), None, NOW)
    }

    #[test]
    fn what_is_held_at_a_disabled_endpoint_is_pending_without_a_time() {
        let held = Some(LaneHold { until: None });
        for due in [Timestamp::from_millis(1), Timestamp::from_millis(9)] {
            let waiting = delivery(3, DeliveryState::Waiting { due, rule: Rule::OutageLadder });
            assert_eq!(Status::of(&waiting, held, NOW), (Status::Pending, None));
        }
        let fresh = delivery(0, DeliveryState::Fresh);
        assert_eq!(Status::of(&fresh, held, NOW), (Status::Pending, None));
        let cancelled = DeliveryState::Settled {
            state: SettledState::Cancelled,
            reason: None,
            at: NOW,
            last_status: None,
        };
        assert_eq!(Status::of(&delivery(3, cancelled), held, NOW), (Status::Canceled, None));
    }

    #[test]
    fn a_hold_that_ends_counts_for_what_is_due_before_its_end() {
        let until = Timestamp::from_millis(20);
        let held = Some(LaneHold { until: Some(until) });
        let waiting = |due| {
            let due = Timestamp::from_millis(due);
            Status::of(&delivery(3, DeliveryState::Waiting { due, rule: Rule::OutageLadder }), held, NOW)
        };
        assert_eq!(waiting(1), (Status::Pending, Some(until)));
        assert_eq!(waiting(30), (Status::Sending, Some(Timestamp::from_millis(30))));
        assert_eq!(Status::of(&delivery(0, DeliveryState::Fresh), held, NOW), (Status::Pending, Some(until)));
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
