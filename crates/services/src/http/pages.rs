//! Lists that a service returns in pages.

use serde::de::DeserializeOwned;

use super::{Api, Call, Response, ServiceError};

impl Api {
    /// Reads the pages of a list, up to `most` entries. The flag is true if there are more.
    pub(crate) fn pages<T: DeserializeOwned>(
        &self,
        call: &Call,
        page_size: usize,
        most: usize,
    ) -> Result<(Vec<T>, bool), ServiceError> {
        let mut all = Vec::new();
        let mut page = 1_usize;
        loop {
            let call = call.clone().query("per_page", page_size).query("page", page);
            let response = self.send(&call)?;
            let entries: Vec<T> = self.parse(&call, &response)?;
            let is_last = !response.has_next_page() || entries.is_empty();
            all.extend(entries);
            if all.len() > most || (all.len() == most && !is_last) {
                all.truncate(most);
                return Ok((all, true));
            }
            if is_last {
                return Ok((all, false));
            }
            page += 1;
        }
    }
}

impl Response {
    /// Returns true if a list has another page. The address in the header is not followed: the
    /// client knows the next page itself, and the address could lead anywhere.
    pub(crate) fn has_next_page(&self) -> bool {
        let link = self.header("link");
        link.is_some_and(|link| link.split(',').any(|part| part.contains("rel=\"next\"")))
    }
}
