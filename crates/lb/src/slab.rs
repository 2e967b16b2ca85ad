//! Places for connections, numbered, reused. A generation tells an old visitor from a new one.

#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Reserves a place; its value is [put](Self::put) later.
    pub(crate) fn reserve(&mut self) -> (usize, u32) {
        if let Some(place) = self.free.pop() {
            self.places[place].0 = self.places[place].0.wrapping_add(1);
            return (place, self.places[place].0);
        }
        self.places.push((0, None));
        (self.places.len() - 1, 0)
    }

    pub(crate) fn put(&mut self, place: usize, value: T) {
        self.places[place].1 = Some(value);
    }

    pub(crate) fn take(&mut self, place: usize) -> Option<T> {
        self.places.get_mut(place)?.1.take()
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.places.get(place)?.1.as_ref()
    }

    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.places.get_mut(place)?.1.as_mut()
    }

    /// Takes all values.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.places.iter_mut().filter_map(|place| place.1.take()).collect()
    }

    /// Numbers of all places with a value.
    pub(crate) fn places(&self) -> Vec<usize> {
        (0..self.places.len()).filter(|place| self.places[*place].1.is_some()).collect()
    }

    pub(crate) fn generation(&self, place: usize) -> u32 {
        self.places.get(place).map_or(0, |place| place.0)
    }

    /// Frees a place whose value has been taken.
    pub(crate) fn free(&mut self, place: usize) {
        self.places[place].1 = None;
        self.free.push(place);
    }
}
