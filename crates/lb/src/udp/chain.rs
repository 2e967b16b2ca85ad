//! Lists through places of a slab, from the least to the most recently used: entering and leaving cost
//! the same for any length.

/// No place.
const NONE: u32 = u32::MAX;

/// Ends and length of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    first: u32,
    last: u32,
    length: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: NONE, last: NONE, length: 0 }
    }
}

impl List {
    /// The least recently used place.
    pub(super) fn first(self) -> Option<usize> {
        (self.first != NONE).then_some(self.first as usize)
    }

    /// The number of places.
    pub(super) const fn len(self) -> u32 {
        self.length
    }
}

/// Neighbours of a place in its list.
#[derive(Debug, Clone, Copy)]
struct Links {
    before: u32,
    after: u32,
}

/// The neighbours of all places. A place is in one list at most.
#[derive(Debug, Default)]
pub(super) struct Chain {
    links: Vec<Links>,
}

impl Chain {
    /// Adds a place as the most recently used one.
    pub(super) fn push(&mut self, list: &mut List, place: usize) {
        if place >= self.links.len() {
            self.links.resize(place + 1, Links { before: NONE, after: NONE });
        }
        let number = u32::try_from(place).unwrap_or(NONE);
        self.links[place] = Links { before: list.last, after: NONE };
        match list.last {
            NONE => list.first = number,
            last => self.links[last as usize].after = number,
        }
        list.last = number;
        list.length += 1;
    }

    /// Takes a place out of its list.
    pub(super) fn remove(&mut self, list: &mut List, place: usize) {
        let Links { before, after } = self.links[place];
        list.length -= 1;
        match before {
            NONE => list.first = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => list.last = before,
            after => self.links[after as usize].before = before,
        }
    }

    /// Makes a place the most recently used one of its list.
    pub(super) fn touch(&mut self, list: &mut List, place: usize) {
        if list.last as usize != place {
            self.remove(list, place);
            self.push(list, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(chain: &Chain, list: List) -> Vec<usize> {
        let after = |place: &usize| match chain.links[*place].after {
            NONE => None,
            after => Some(after as usize),
        };
        std::iter::successors(list.first(), after).collect()
    }

    #[test]
    fn the_least_recently_used_place_is_the_first() {
        let (mut chain, mut list, mut other) = (Chain::default(), List::default(), List::default());
        for place in [5, 0, 3, 7] {
            chain.push(&mut list, place);
        }
        chain.push(&mut other, 1);
        chain.touch(&mut list, 0);
        chain.touch(&mut list, 0);
        assert_eq!(places(&chain, list), [5, 3, 7, 0]);
        chain.touch(&mut list, 5);
        assert_eq!(places(&chain, list), [3, 7, 0, 5]);
        for (gone, left) in [(7, &[3, 0, 5][..]), (3, &[0, 5]), (5, &[0]), (0, &[])] {
            chain.remove(&mut list, gone);
            assert_eq!(places(&chain, list), left);
            assert_eq!(list.len() as usize, left.len());
        }
        assert_eq!((list, places(&chain, other)), (List::default(), vec![1]));
    }
}
