//! Functions of Go in other files of a package, and in other packages of the repository.

use std::rc::Rc;

use super::form::FlowFunction;
use super::interpreter::FlowInterpreter;
use crate::language::Language;

impl FlowInterpreter<'_> {
    /// Returns a function or method of a package. `owner` is empty for a function of the own
    /// package, `Type` or `package.Type` for a method, and `package.` for a function of another
    /// package.
    pub(super) fn package_functions(
        &mut self,
        owner: &str,
        name: &str,
        from: usize,
    ) -> Vec<(usize, Rc<FlowFunction>)> {
        if self.program.language != Language::Go || owner.matches('.').count() > 1 {
            return Vec::new();
        }
        let (package, class) = owner.split_once('.').unwrap_or(("", owner));
        // The own package of another file is found by its folder.
        let folder = || {
            let path = self.program.files[from].path.as_str();
            path.rsplit('/').nth(1).unwrap_or_default().to_owned()
        };
        let package = if package.is_empty() && from > 0 { folder() } else { package.to_owned() };
        let Some(file) = self.program.file_of(&format!("{package}.{class}.{name}")) else {
            return Vec::new();
        };
        let functions = self.program.files[file].functions();
        let mut functions =
            functions.filter(|(own, function)| own.name == class && function.name == name);
        functions.next().map(|(_, own)| (file, Rc::clone(own))).into_iter().collect()
    }
}
