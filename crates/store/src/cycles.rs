//! Detection of tasks that depend on each other: [`Cycles`], in one pass over all tasks.

use std::collections::HashMap;

/// The cycle of each task that is part of one, as a number.
#[derive(Debug, Default)]
pub(crate) struct Cycles(HashMap<String, usize>);

/// The progress of the search at a task.
struct Visit {
    /// The position of the task in the order of first visits.
    number: usize,
    /// The lowest such position that can be reached from the task.
    lowest: usize,
    is_open: bool,
}

impl Cycles {
    /// Finds the cycles among tasks, given the dependencies of each task. The cost is linear in the
    /// number of dependencies.
    pub(crate) fn find(needs: &HashMap<String, Vec<String>>) -> Cycles {
        let mut search = Search { needs, visits: HashMap::new(), open: Vec::new() };
        let mut cycles = HashMap::new();
        for task in needs.keys() {
            search.run(task, &mut cycles);
        }
        Cycles(cycles)
    }

    /// Returns true if two tasks are part of the same cycle.
    pub(crate) fn is_same_cycle(&self, one: &str, other: &str) -> bool {
        let cycle = self.0.get(one);
        cycle.is_some() && cycle == self.0.get(other)
    }
}

/// A search for strongly connected components by Tarjan's algorithm, without recursion.
struct Search<'a> {
    needs: &'a HashMap<String, Vec<String>>,
    visits: HashMap<&'a str, Visit>,
    open: Vec<&'a str>,
}

impl<'a> Search<'a> {
    fn needs_of(&self, task: &str) -> &'a [String] {
        self.needs.get(task).map_or(&[], Vec::as_slice)
    }

    fn enter(&mut self, task: &'a str) {
        let number = self.visits.len();
        self.visits.insert(task, Visit { number, lowest: number, is_open: true });
        self.open.push(task);
    }

    fn run(&mut self, from: &'a str, cycles: &mut HashMap<String, usize>) {
        if self.visits.contains_key(from) {
            return;
        }
        self.enter(from);
        let mut path = vec![(from, 0)];
        while let Some((task, next)) = path.pop() {
            if let Some(need) = self.needs_of(task).get(next) {
                path.push((task, next + 1));
                match self.visits.get(need.as_str()) {
                    None => {
                        self.enter(need);
                        path.push((need, 0));
                    }
                    Some(visit) if visit.is_open => {
                        let number = visit.number;
                        self.lower(task, number);
                    }
                    Some(_) => {}
                }
                continue;
            }
            let lowest = self.visits[task].lowest;
            if let Some((above, _)) = path.last() {
                self.lower(above, lowest);
            }
            if lowest == self.visits[task].number {
                self.close(task, lowest, cycles);
            }
        }
    }

    fn lower(&mut self, task: &str, to: usize) {
        if let Some(visit) = self.visits.get_mut(task) {
            visit.lowest = visit.lowest.min(to);
        }
    }

    /// Closes the component that begins with `task`. A component of more than one task is a cycle.
    fn close(&mut self, task: &str, number: usize, cycles: &mut HashMap<String, usize>) {
        let at = self.open.iter().rposition(|open| *open == task).unwrap_or(0);
        let part = self.open.split_off(at);
        for member in &part {
            if let Some(visit) = self.visits.get_mut(member) {
                visit.is_open = false;
            }
            if part.len() > 1 {
                cycles.insert((*member).to_owned(), number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(pairs: &[(&str, &[&str])]) -> HashMap<String, Vec<String>> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        pairs.iter().map(|(task, needs)| ((*task).to_owned(), owned(needs))).collect()
    }

    #[test]
    fn tasks_in_a_cycle_are_found_and_those_that_lead_there_are_not() {
        let cycles = Cycles::find(&needs(&[
            ("a", &["b"]),
            ("b", &["c", "x"]),
            ("c", &["a"]),
            ("d", &["a"]),
            ("e", &["f"]),
            ("f", &["e"]),
        ]));
        assert!(
            cycles.is_same_cycle("a", "b")
                && cycles.is_same_cycle("b", "c")
                && cycles.is_same_cycle("e", "f")
        );
        for (one, other) in [("d", "a"), ("a", "e"), ("b", "x"), ("x", "x"), ("d", "d")] {
            assert!(!cycles.is_same_cycle(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_long_chain_is_searched_without_recursion() {
        let chain = (0..200_000).map(|n| (n.to_string(), vec![(n + 1).to_string()])).collect();
        assert!(!Cycles::find(&chain).is_same_cycle("0", "1"));
    }
}
