//! Mutexes that a panic does not take away from others.
//!
//! A thread that panics is told of where it is joined. What it held a lock of is whole at any moment,
//! or is repaired by the next owner of the lock, so no other thread has to end because of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for a mutex and holds it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is in a mutex that nobody else has any more.
pub fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_leaves_what_was_locked_to_others() {
        let mutex = Mutex::new(1);
        let holder = std::panic::AssertUnwindSafe(|| {
            *lock(&mutex) += 1;
            let _held = lock(&mutex);
            panic!("meant");
        });
        assert!(std::panic::catch_unwind(holder).is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(into_inner(mutex), 3);
    }
}
