//! The code that an analysis sees: [`Program`], the reviewed file and the files that it needs.

use std::collections::HashMap;
use std::rc::Rc;

use assay_findings::path::RepoPath;

use super::form::{FlowClass, FlowFunction};
use crate::language::Language;
use crate::syntax::Syntax;

/// The maximum number of further files that the analysis of one file reads.
const MAX_FILES: usize = 12;

/// The maximum size of a further file, in bytes.
const MAX_FILE_BYTES: usize = 512 * 1024;

/// A lookup of a file by the name of its class or module; an error if the file cannot be read.
pub(crate) type FileLookup<'a> =
    dyn Fn(Language, &str) -> Result<Option<(RepoPath, String)>, String> + Sync + 'a;

/// The reviewed file, which has the index 0, and the files that it needs.
pub(super) struct Program<'a> {
    pub(super) language: Language,
    pub(super) files: Vec<ProgramFile>,
    lookup: &'a FileLookup<'a>,
    by_name: HashMap<String, Option<usize>>,
    /// The reasons why a file was not read.
    pub(super) missing: Vec<String>,
}

/// A file of a program.
pub(super) struct ProgramFile {
    pub(super) path: RepoPath,
    pub(super) text: String,
    pub(super) classes: Vec<Rc<FlowClass>>,
    /// The dotted names of imported names.
    pub(super) imports: HashMap<String, String>,
}

impl ProgramFile {
    /// Lowers a file.
    pub(super) fn new(path: RepoPath, text: String, syntax: &Syntax) -> ProgramFile {
        let (classes, imports) = super::lower(syntax, &path, &text);
        let classes = classes.into_iter().map(Rc::new).collect();
        ProgramFile { path, text, classes, imports }
    }

    /// Returns the functions of the file.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&Rc<FlowClass>, &Rc<FlowFunction>)> {
        self.classes.iter().flat_map(|class| class.functions.iter().map(move |own| (class, own)))
    }
}

impl<'a> Program<'a> {
    pub(super) fn new(
        language: Language,
        file: ProgramFile,
        lookup: &'a FileLookup<'a>,
    ) -> Program<'a> {
        let by_name = HashMap::new();
        Program { language, files: vec![file], lookup, by_name, missing: Vec::new() }
    }

    /// Returns a class by its simple name, seen from a file, with the file that defines it.
    pub(super) fn class(&mut self, name: &str, from: usize) -> Option<(usize, Rc<FlowClass>)> {
        let in_file = |file: &ProgramFile| file.classes.iter().find(|c| c.name == name).cloned();
        if let Some(class) = in_file(&self.files[from]) {
            return Some((from, class));
        }
        if let Some((module, own)) = self.repository_import(name, from) {
            let at = self.file_of(&module)?;
            let class = self.files[at].classes.iter().find(|class| class.name == own)?;
            return Some((at, Rc::clone(class)));
        }
        let at = self.file_of(name)?;
        in_file(&self.files[at]).map(|class| (at, class))
    }

    /// Returns the module and the name of a class that a file imports by the path of its module.
    fn repository_import(&self, name: &str, from: usize) -> Option<(String, String)> {
        let dotted = self.files[from].imports.get(name).filter(|own| own.starts_with('/'))?;
        let (module, own) = dotted.rsplit_once('.')?;
        Some((module.to_owned(), own.to_owned()))
    }

    /// Returns the file of a class or a module, which is read on first use.
    pub(super) fn file_of(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let found = self.load(name);
        self.by_name.insert(name.to_owned(), found);
        found
    }

    fn load(&mut self, name: &str) -> Option<usize> {
        let (path, text) = match (self.lookup)(self.language, name) {
            Ok(found) => found?,
            Err(why) => {
                self.missing.push(why);
                return None;
            }
        };
        if let Some(at) = self.files.iter().position(|file| file.path == path) {
            return Some(at);
        }
        if self.files.len() > MAX_FILES || text.len() > MAX_FILE_BYTES {
            self.missing.push(format!("`{path}` was not followed: too many or too large files"));
            return None;
        }
        let syntax = Syntax::parse(self.language, &text)?;
        self.files.push(ProgramFile::new(path, text, &syntax));
        Some(self.files.len() - 1)
    }
}
