//! What several deliveries do together: breakers, releases, throttles, health, our own network (R8 to
//! R28), with the production machine in virtual time.

mod breaker;
mod fleet;
mod gone;
mod health;
mod laws;
mod order;
mod properties;
mod release;
mod store;
mod throttle;
mod windows;
mod world;
