//! The repositories of the workspace: opening them, and showing their findings.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_engine::editor_session::{EditorReview, EditorSession, ReviewedFile};
use assay_findings::path::RepoPath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Event, InitializeParams, LspServer, WorkspaceFolder};
use crate::lsp::client::MessageKind;
use crate::lsp::diagnostics::{self, ShownFinding};
use crate::lsp::document::Document;
use crate::lsp::folder::Folder;
use crate::lsp::uri;
use crate::lsp::worker::{Job, Urgency, Versions, Worker, WorkerReport};

#[derive(Deserialize)]
pub(super) struct FoldersParams {
    event: FoldersEvent,
}

#[derive(Deserialize)]
struct FoldersEvent {
    #[serde(default)]
    added: Vec<WorkspaceFolder>,
    #[serde(default)]
    removed: Vec<WorkspaceFolder>,
}

impl<W: Write> LspServer<W> {
    /// Stores the folders of `initialize`: those of the workspace, or else the root.
    pub(super) fn name_folders(&mut self, asked: &InitializeParams) {
        let listed = asked.workspace_folders.iter().flatten();
        let mut folders: Vec<PathBuf> =
            listed.filter_map(|folder| uri::to_path(&folder.uri)).collect();
        if folders.is_empty() {
            let root = asked.root_uri.as_deref().and_then(uri::to_path);
            folders.extend(root.or_else(|| asked.root_path.clone()));
        }
        self.has_workspace = !folders.is_empty();
        self.new_folders = folders;
    }

    pub(super) fn open_new_folders(&mut self) {
        for folder in std::mem::take(&mut self.new_folders) {
            self.open_folder(&folder);
        }
    }

    /// Opens the repository around a folder, unless it is open.
    pub(super) fn open_folder(&mut self, folder: &Path) {
        let settings = self.settings.review.clone();
        let session = match EditorSession::new(self.context.environment, folder, settings) {
            Ok(session) => session,
            Err(error) => {
                let why = format!("`{}` is not reviewed: {error:#}", folder.display());
                return self.client.show_once(MessageKind::Warning, &why);
            }
        };
        let root = session.root().canonicalize().unwrap_or_else(|_| session.root().to_owned());
        if self.folders.contains_key(&root) {
            return;
        }
        let (events, name) = (self.events.clone(), root.clone());
        // The server is gone if the conversation has ended.
        let report = move |report| drop(events.send(Event::Report(name.clone(), report)));
        let worker = Worker::start(session, &self.settings, report);
        let progress = self.capabilities.progress;
        let progress = progress.then(|| self.client.begin_progress("assay: reading the change"));
        let opened = Folder { worker, files: BTreeMap::new(), last_run: None, progress };
        self.folders.insert(root.clone(), opened);
        self.locate_all();
        self.review_root(Some(root), Urgency::Now);
    }

    pub(super) fn change_folders(&mut self, changed: FoldersParams) {
        let paths = |list: Vec<WorkspaceFolder>| {
            list.into_iter().filter_map(|folder| uri::to_path(&folder.uri)).collect::<Vec<_>>()
        };
        for folder in paths(changed.event.removed) {
            let root = assay_change::root(&folder).unwrap_or(folder);
            self.close_folder(&root.canonicalize().unwrap_or(root));
        }
        let added = paths(changed.event.added);
        self.has_workspace |= !added.is_empty();
        added.iter().for_each(|folder| self.open_folder(folder));
        self.locate_all();
    }

    /// Closes a repository whose root left the workspace, and removes its diagnostics.
    fn close_folder(&mut self, root: &Path) {
        let Some(folder) = self.folders.remove(root) else { return };
        for path in folder.files.keys() {
            self.publish(root, path, &[]);
        }
        self.locate_all();
    }

    /// Reviews a repository with the open texts.
    pub(super) fn review_root(&mut self, root: Option<PathBuf>, urgency: Urgency) {
        let Some((root, folder)) = root.and_then(|root| self.folders.get_key_value(&root)) else {
            return;
        };
        folder.worker.send(Job::Review(self.open_texts(root), urgency));
    }

    pub(super) fn review_all(&mut self, urgency: Urgency) {
        for root in self.folders.keys().cloned().collect::<Vec<_>>() {
            self.review_root(Some(root), urgency);
        }
    }

    /// Reviews a repository after files on disk may have changed.
    pub(super) fn reload(&mut self, root: Option<PathBuf>) {
        if let Some(folder) = root.as_ref().and_then(|root| self.folders.get(root)) {
            folder.worker.send(Job::Reload);
        }
        self.review_root(root, Urgency::Now);
    }

    pub(super) fn handle_report(&mut self, root: &Path, report: WorkerReport) {
        match report {
            WorkerReport::Answered(number, answer) => self.finish_command(root, number, answer),
            WorkerReport::Reviewed(versions, reviewed) => {
                let progress = self.folders.get_mut(root).and_then(|folder| folder.progress.take());
                if let Some(token) = progress {
                    self.client.end_progress(&token);
                }
                match reviewed {
                    Ok(review) => self.show_review(root, &versions, review),
                    Err(why) => {
                        let why = format!("`{}` could not be reviewed: {why}", root.display());
                        self.client.show_once(MessageKind::Error, &why);
                    }
                }
            }
        }
    }

    fn show_review(&mut self, root: &Path, versions: &Versions, review: EditorReview) {
        let Some(folder) = self.folders.get_mut(root) else { return };
        let is_new_run = folder.last_run != review.last_run;
        folder.last_run = review.last_run;
        let mut gone: Vec<RepoPath> = folder.files.keys().cloned().collect();
        gone.retain(|path| !review.files.contains_key(path));
        for path in gone {
            self.show_file(root, &path, &ReviewedFile::default(), versions);
        }
        for (path, file) in &review.files {
            self.show_file(root, path, file, versions);
        }
        review.notes.iter().for_each(|note| self.client.log_once(&format!("note: {note}")));
        if is_new_run && self.capabilities.code_lens_refresh {
            self.client.request("workspace/codeLens/refresh", Value::Null);
        }
    }

    /// Shows the findings of a file, unless a newer text of the file is reviewed next.
    fn show_file(
        &mut self,
        root: &Path,
        path: &RepoPath,
        file: &ReviewedFile,
        versions: &Versions,
    ) {
        let open = self.document_at(root, path).map(|(_, document)| document.version);
        if open.is_some() && open != versions.get(path).copied() {
            return;
        }
        if let Some(rule) = file.excluded.as_ref().filter(|_| open.is_some()) {
            self.client.show_once(MessageKind::Info, &format!("`{path}` is not reviewed: {rule}"));
        }
        let shown = diagnostics::show(file, self.capabilities.encoding);
        let Some(folder) = self.folders.get_mut(root) else { return };
        let before = match shown.is_empty() {
            true => folder.files.remove(path),
            false => folder.files.insert(path.clone(), shown.clone()),
        };
        if open.is_some() || before.unwrap_or_default() != shown {
            self.publish(root, path, &shown);
        }
    }

    fn document_at(&self, root: &Path, path: &RepoPath) -> Option<(&String, &Document)> {
        self.documents.iter().find(|(_, document)| {
            document.place.as_ref().is_some_and(|(at, name)| at == root && name == path)
        })
    }

    fn publish(&mut self, root: &Path, path: &RepoPath, shown: &[ShownFinding]) {
        let found: Vec<Value> = shown.iter().map(ShownFinding::diagnostic).collect();
        let mut params = match self.document_at(root, path) {
            Some((uri, document)) => json!({"uri": uri, "version": document.version}),
            None => json!({"uri": uri::from_path(&root.join(path.as_str()))}),
        };
        params["diagnostics"] = Value::from(found);
        self.client.notify("textDocument/publishDiagnostics", params);
    }
}
