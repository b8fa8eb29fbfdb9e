//! R12: which of the due deliveries is the probe.

use crate::ids::MessageId;

/// How a delivery differs from the last probe, if that one was answered but not taken (R13).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Variety {
    /// Of another type; or there was no such probe.
    #[default]
    Other,
    /// Another delivery of the same type.
    SameType,
    /// The same delivery again.
    Same,
}

/// A delivery that is due and that no limit, throttle or disabling holds back. The smallest one is
/// the probe: those at endpoints that failed first, then another kind than the last probe's, then
/// critical ones, then the one with the fewest outage attempts, then the oldest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeCandidate {
    pub endpoint_failed: bool,
    pub variety: Variety,
    pub critical: bool,
    /// [`crate::progress::Progress::outage`].
    pub outage: u16,
    pub message: MessageId,
}

impl ProbeCandidate {
    fn rank(&self) -> impl Ord {
        (!self.endpoint_failed, self.variety, !self.critical, self.outage, self.message)
    }
}

impl PartialOrd for ProbeCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProbeCandidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(endpoint_failed: bool, critical: bool, outage: u16, message: u64) -> ProbeCandidate {
        ProbeCandidate {
            endpoint_failed,
            variety: Variety::Other,
            critical,
            outage,
            message: MessageId(message),
        }
    }

    #[test]
    fn r12_the_probe_is_critical_then_little_tried_then_old() {
        let best_first = [
            candidate(true, true, 0, 8),
            candidate(true, true, 0, 9),
            candidate(true, true, 3, 1),
            candidate(true, false, 0, 2),
            candidate(true, false, 1, 1),
            candidate(false, true, 0, 1),
        ];
        let mut sorted = best_first;
        sorted.reverse();
        sorted.sort();
        assert_eq!(sorted, best_first);
    }

    #[test]
    fn r13_after_an_answered_probe_another_type_is_preferred() {
        let same = ProbeCandidate { variety: Variety::Same, ..candidate(true, true, 0, 1) };
        let same_type = ProbeCandidate { variety: Variety::SameType, ..candidate(true, true, 0, 2) };
        let other = candidate(true, false, 9, 3);
        assert_eq!([same, same_type, other].into_iter().min(), Some(other));
        assert_eq!([same, same_type].into_iter().min(), Some(same_type));
    }
}
