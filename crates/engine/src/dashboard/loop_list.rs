//! Validation loops as the dashboard lists them.

use std::path::{Path, PathBuf};

use assay_validate::{file_names, plan, spec};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Dashboard, DashboardError};
use crate::loop_session::SpecLocation;
use crate::loop_views::screenshot::read_screenshot;
use crate::loop_views::{LoopDetailView, LoopView};

/// The validation loops of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopListView {
    /// The loops of all specs, by their names.
    pub loops: Vec<LoopView>,
}

/// A spec and the id of its loop.
struct LoopEntry {
    id: String,
    folder: PathBuf,
}

impl LoopEntry {
    /// Lists the loops of all specs. A name that two folders share is replaced by the paths. Folders
    /// without a spec, a plan and a journal belong to other programs, and are left out.
    fn all(root: &Path) -> anyhow::Result<Vec<LoopEntry>> {
        let mut folders = spec::all(root)?;
        let files = [file_names::SPEC, plan::NAME, file_names::JOURNAL];
        folders.retain(|folder| files.iter().any(|file| root.join(folder).join(file).is_file()));
        let entry = |folder: &PathBuf| {
            let name = |folder: &PathBuf| folder.file_name().map(|it| it.to_owned());
            let is_unique = folders.iter().filter(|it| name(it) == name(folder)).count() == 1;
            let id = name(folder).filter(|_| is_unique).unwrap_or(folder.clone().into());
            LoopEntry { id: id.to_string_lossy().into_owned(), folder: folder.clone() }
        };
        Ok(folders.iter().map(entry).collect())
    }
}

impl Dashboard {
    /// Returns the loops of all specs. A loop whose state cannot be read is listed with the reason.
    pub fn loops(&self) -> Result<LoopListView, DashboardError> {
        let view = |entry: LoopEntry| {
            let read = self.spec_at(&entry).and_then(|place| LoopView::read(&entry.id, &place));
            let folder = entry.folder.display().to_string();
            read.unwrap_or_else(|error| LoopView::unknown(&entry.id, &folder, &error))
        };
        let loops = LoopEntry::all(&self.root)?.into_iter().map(view).collect();
        Ok(LoopListView { loops })
    }

    /// Returns a loop with its rounds and its journal.
    pub fn loop_detail(&self, id: &str) -> Result<LoopDetailView, DashboardError> {
        Ok(LoopDetailView::read(id, &self.spec_of_loop(id)?)?)
    }

    /// Returns a screenshot of a loop as a PNG. The journal has to name the screenshot.
    pub fn screenshot(&self, id: &str, round: &str, file: &str) -> Result<Vec<u8>, DashboardError> {
        let place = self.spec_of_loop(id)?;
        let detail = LoopDetailView::read(id, &place)?;
        let mut shown = detail.history.iter().flat_map(|round| round.screenshots());
        let found = shown.find(|it| it.round.to_string() == round && it.file == file);
        let unknown = || DashboardError::Unknown(format!("unknown screenshot {file:?}"));
        let found = found.ok_or_else(unknown)?;
        read_screenshot(&place, found).map_err(|error| DashboardError::Unknown(error.to_string()))
    }

    /// Returns the spec of a loop.
    pub(super) fn spec_of_loop(&self, id: &str) -> Result<SpecLocation, DashboardError> {
        let mut all = LoopEntry::all(&self.root)?.into_iter();
        let entry = all.find(|entry| entry.id == id);
        let unknown = || DashboardError::Unknown(format!("unknown loop {id:?}: no spec has it"));
        Ok(self.spec_at(&entry.ok_or_else(unknown)?)?)
    }

    fn spec_at(&self, entry: &LoopEntry) -> anyhow::Result<SpecLocation> {
        SpecLocation::of(&self.environment, &self.root, &entry.folder.to_string_lossy())
    }
}
