//! The tests that every engine passes.
//!
//! One function for each behaviour that callers rely on; [`crate::conformance!`] makes a test of
//! each. A test gets a way to open one store, empty at first, and may open it again after closing
//! it. What is compared with fixed expectations says what operations mean; [`random`] compares with
//! the model what nobody thought of.

pub mod accepting;
pub mod books;
pub mod configuration;
pub mod durability;
pub mod expiring;
pub mod lanes;
pub mod lists;
pub mod notices;
pub mod operations;
pub mod outcomes;
mod picture;
pub mod random;
pub mod steps;
mod trial;
pub mod unrouting;

use std::sync::Arc;

use crate::{engine::Engine, query::Queries};

pub use trial::Trial;

/// The two halves of an open store.
pub type Opened = (Box<dyn Engine>, Arc<dyn Queries>);

/// Opens the store of one test; the one before is closed or dropped by then.
pub type Open<'a> = &'a dyn Fn() -> Opened;

/// Makes a `#[test]` of every behaviour. The argument names a function that returns a way to open
/// one new store: `fn() -> impl Fn() -> Opened`.
#[macro_export]
macro_rules! conformance {
    ($store:path) => {
        $crate::conformance! { @tests $store;
            accepting::an_accepted_message_is_in_the_lanes_of_its_endpoints,
            accepting::a_message_with_a_later_time_waits_for_it,
            accepting::a_message_without_routes_is_routed_nowhere_unless_it_is_held,
            accepting::r19_an_endpoint_that_skips_gets_a_delivery_that_has_ended,
            accepting::an_event_id_is_taken_once_in_its_application,
            accepting::an_event_id_is_taken_within_a_batch,
            accepting::an_old_application_version_is_stale,
            accepting::a_missing_or_deleted_application_is_gone,
            accepting::the_same_key_and_body_replay_the_message,
            accepting::a_key_with_another_body_is_a_conflict,
            accepting::keys_are_forgotten_when_their_time_is_over,
            accepting::a_refused_message_leaves_nothing,
            accepting::an_operation_that_cannot_be_written_fails_alone,
            outcomes::a_delivery_that_succeeds_leaves_its_lane,
            outcomes::an_accept_and_its_outcome_may_share_a_batch,
            outcomes::a_failed_attempt_waits_and_keeps_its_progress,
            outcomes::an_outcome_without_its_row_is_gone_and_writes_only_its_gates,
            outcomes::a_delivery_skipped_without_an_attempt_is_listed,
            outcomes::due_rows_come_by_due_time_and_name_the_next,
            outcomes::the_backlog_names_every_endpoint_once,
            outcomes::gates_and_notices_are_written_with_their_outcome,
            steps::a_retry_by_hand_is_pending_once,
            steps::a_successful_retry_by_hand_ends_the_scheduled_attempt,
            steps::a_failed_retry_by_hand_changes_nothing_but_the_count,
            steps::a_retry_of_a_message_that_is_not_there_is_gone,
            steps::cancelling_takes_the_oldest_first_and_stops_at_its_limit,
            steps::cancelling_ends_pending_retries_by_hand,
            steps::an_attempt_under_way_is_journaled_though_its_delivery_was_cancelled,
            steps::a_retry_by_hand_is_replayed_for_the_same_key_and_body,
            steps::unrouted_messages_are_routed_once,
            steps::routing_with_an_old_configuration_is_stale,
            lanes::r22_a_lane_gives_critical_messages_first,
            lanes::r22_what_is_due_comes_critical_first,
            lanes::a_delivery_stays_critical_and_of_its_kind_until_it_ends,
            lanes::r24_a_lane_in_strict_order_goes_by_age,
            lanes::r07_the_oldest_of_a_lane_is_looked_for_in_both_tables,
            expiring::r07_what_is_too_old_fails_as_expired_and_is_told,
            expiring::r07_expiring_takes_the_oldest_first_and_stops_at_its_limit,
            expiring::r07_an_attempt_under_way_is_journaled_though_its_delivery_expired,
            expiring::r19_cancelling_keeps_the_reason_that_it_is_given,
            expiring::r07_messages_that_wait_for_an_endpoint_end_oldest_first,
            unrouting::r20_deliveries_of_the_last_endpoint_become_messages_that_wait,
            unrouting::r18_a_message_that_was_delivered_elsewhere_counts_its_old_and_new_routes,
            unrouting::r18_a_message_that_waits_again_has_not_ended,
            unrouting::r20_nothing_is_unrouted_for_an_application_that_is_not_there_or_deleted,
            unrouting::r18_the_applications_with_waiting_messages_are_named_with_the_oldest,
            notices::notices_come_in_order_until_they_are_told,
            notices::r17_transitions_are_kept_by_application_when_their_notices_are_told,
            notices::gates_and_notices_are_written_with_their_document_or_not_at_all,
            books::r29_the_books_balance,
            books::r29_a_span_holds_what_was_accepted_in_it,
            books::r29_a_message_sent_by_hand_where_it_was_not_routed_is_routed_there,
            configuration::a_document_is_replaced_under_its_version_only,
            configuration::a_uid_is_unique_among_the_living,
            configuration::touching_an_application_bumps_its_version,
            configuration::nothing_is_written_for_an_application_that_is_not_there_or_deleted,
            configuration::an_answer_is_replayed_for_the_same_key_and_body,
            configuration::numbers_are_never_given_twice,
            configuration::gates_keep_every_facet_and_open_ones_need_no_row,
            configuration::facts_are_kept,
            lists::messages_come_in_pages_both_ways,
            lists::messages_are_filtered_by_type_channel_tag_and_time,
            lists::pages_end_early_rather_than_carry_too_much,
            lists::attempts_come_by_message_and_by_endpoint,
            lists::attempts_are_filtered,
            lists::deliveries_of_an_endpoint_come_in_pages,
            lists::indexing_behind_changes_no_answer,
            durability::everything_committed_survives_a_restart,
            durability::ids_continue_after_a_restart,
            durability::recent_keys_survive_a_restart,
            durability::versions_of_applications_survive_a_restart,
            durability::r25_due_times_are_moved_but_not_those_that_were_asked_for,
            random::random_batches_give_the_answers_of_the_model,
        }
    };
    (@tests $store:path; $($group:ident :: $name:ident,)+) => {
        $(
            #[test]
            fn $name() {
                let open = $store();
                $crate::conformance::$group::$name(&open);
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    fn model() -> impl Fn() -> Opened {
        let model = Model::new();
        move || (Box::new(model.clone()) as Box<dyn Engine>, Arc::new(model.clone()) as Arc<dyn Queries>)
    }

    crate::conformance!(model);
}
