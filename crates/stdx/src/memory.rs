//! Large tables that are read at random places: in huge pages, the processor finds their addresses without
//! reading page tables, which are as far from it as the tables.

use crate::sys;

/// Smaller tables stay in small pages: a server with few items must not grow by a huge page for each.
const LARGE: usize = 8 << 20;

/// Gives a table room for `more` entries, neither doubling nor touching what is not used yet.
pub fn grow<T>(table: &mut Vec<T>, more: usize) {
    let mut larger = with_capacity(table.len().saturating_add(more));
    larger.append(table);
    *table = larger;
}

/// An empty table with room for so many entries.
pub fn with_capacity<T>(entries: usize) -> Vec<T> {
    let table = Vec::with_capacity(entries);
    if table.capacity().saturating_mul(size_of::<T>()) >= LARGE {
        sys::prefer_huge_pages(&table);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flags of the mapping in which an address is; `None` = the system does not tell them.
    fn flags(address: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut inside = false;
        for line in maps.lines() {
            let bounds = line.split_whitespace().next().and_then(|word| word.split_once('-'));
            let bounds =
                bounds.map(|(low, high)| [low, high].map(|n| usize::from_str_radix(n, 16)));
            if let Some([Ok(low), Ok(high)]) = bounds {
                inside = (low..high).contains(&address);
            } else if inside && let Some(flags) = line.strip_prefix("VmFlags:") {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[test]
    fn a_table_grows_and_prefers_huge_pages_once_it_is_large() {
        let mut table: Vec<u64> = vec![1, 2, 3];
        grow(&mut table, 5);
        assert!(table == [1, 2, 3] && table.capacity() >= 8 && table.capacity() < 1_000);
        grow(&mut table, 4 << 20);
        assert!(table == [1, 2, 3] && table.capacity() >= (4 << 20) + 3);
        // The ends may share a huge page with others.
        let middle = table.as_ptr().addr() + (16 << 20);
        let is_known = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        if let Some(flags) = flags(middle).filter(|_| is_known) {
            assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{flags}");
        }
    }
}
