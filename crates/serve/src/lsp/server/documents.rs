//! Open, change, save and close: the texts of the editor.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_findings::path::RepoPath;
use serde::Deserialize;

use super::{DocumentId, LspServer};
use crate::lsp::client::MessageKind;
use crate::lsp::document::{Document, TextChange};
use crate::lsp::message::RpcError;
use crate::lsp::uri;
use crate::lsp::worker::{OpenTexts, Urgency};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenParams {
    text_document: OpenedDocument,
}

#[derive(Deserialize)]
struct OpenedDocument {
    uri: String,
    version: i32,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeParams {
    text_document: VersionedDocument,
    content_changes: Vec<TextChange>,
}

#[derive(Deserialize)]
struct VersionedDocument {
    uri: String,
    version: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    text_document: DocumentId,
}

impl<W: Write> LspServer<W> {
    pub(super) fn open_document(&mut self, opened: OpenParams) {
        let OpenedDocument { uri, version, text } = opened.text_document;
        let Some(path) = uri::to_path(&uri) else {
            self.client.log_once(&format!("`{uri}` is no file, so it is not reviewed"));
            return;
        };
        self.open_new_folders();
        if !self.has_workspace {
            self.open_folder(path.parent().unwrap_or(&path));
        }
        let place = self.locate(&path);
        if place.is_none() {
            let name = path.display();
            let why =
                format!("`{name}` is in no git repository of the workspace, so it is not reviewed");
            self.client.show_once(MessageKind::Warning, &why);
        }
        let text: Arc<str> = text.into();
        let mut document =
            Document { path, place, version, text, is_saved: false, has_mark: false };
        document.compare_with_disk();
        let root = document.place.as_ref().map(|(root, _)| root.clone());
        self.documents.insert(uri, document);
        self.review_root(root, Urgency::Now);
    }

    pub(super) fn change_document(&mut self, changed: ChangeParams) -> Result<(), RpcError> {
        let VersionedDocument { uri, version } = changed.text_document;
        let encoding = self.capabilities.encoding;
        let Some(document) = self.documents.get_mut(&uri) else {
            let why = format!("a change of `{uri}` is ignored: the document is not open");
            return Err(RpcError::invalid_params(why));
        };
        document.apply(version, &changed.content_changes, encoding);
        let root = document.place.as_ref().map(|(root, _)| root.clone());
        self.review_root(root, Urgency::AfterPause);
        Ok(())
    }

    /// Reads the saved files again: a save may also run a formatter.
    pub(super) fn save_document(&mut self, saved: &DocumentParams) {
        let Some(document) = self.documents.get_mut(&saved.text_document.uri) else { return };
        document.compare_with_disk();
        let root = document.place.as_ref().map(|(root, _)| root.clone());
        self.reload(root);
    }

    pub(super) fn close_document(&mut self, closed: &DocumentParams) {
        let Some(document) = self.documents.remove(&closed.text_document.uri) else { return };
        self.reload(document.place.map(|(root, _)| root));
    }

    /// Returns the repository of a file and the path in it. The file need not exist.
    fn locate(&self, path: &Path) -> Option<(PathBuf, RepoPath)> {
        let folder = path.parent()?.canonicalize().ok()?;
        let real = folder.join(path.file_name()?);
        let real = real.canonicalize().unwrap_or(real);
        // The innermost repository is the one that git would find.
        let root = self
            .folders
            .keys()
            .filter(|root| real.starts_with(root))
            .max_by_key(|root| root.as_os_str().len())?;
        let inside = real.strip_prefix(root).ok()?;
        Some((root.clone(), RepoPath::exact(inside.to_str()?).ok()?))
    }

    /// Places documents again, after repositories were added or removed.
    pub(super) fn locate_all(&mut self) {
        let paths = self.documents.iter().map(|(uri, open)| (uri.clone(), self.locate(&open.path)));
        for (uri, place) in paths.collect::<Vec<_>>() {
            if let Some(document) = self.documents.get_mut(&uri) {
                document.place = place;
            }
        }
    }

    /// Returns the open texts of a repository.
    pub(super) fn open_texts(&self, root: &Path) -> OpenTexts {
        let mut texts = OpenTexts::default();
        for document in self.documents.values() {
            let Some((at, path)) = &document.place else { continue };
            if at != root {
                continue;
            }
            texts.versions.insert(path.clone(), document.version);
            if !document.is_saved {
                texts.unsaved.insert(path.clone(), document.unsaved_text());
            }
        }
        texts
    }
}
