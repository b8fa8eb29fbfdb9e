//! The rules of delivery with the real binary and real sockets: profiles whose ladders are scaled to
//! milliseconds, and receivers that follow scripts.

mod backlog;
mod breaker;
mod by_hand;
mod clock;
mod fleet;
mod health;
mod kills;
mod mails;
mod outage;
mod partner;
mod retry_after;
mod timelines;
mod unrouted;
