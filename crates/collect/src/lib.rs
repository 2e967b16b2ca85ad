//! Listeners, pollers, schedule, availability.
