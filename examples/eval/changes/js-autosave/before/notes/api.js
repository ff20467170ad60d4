'use strict';

/** Stores the text of a note; rejects if the server does not confirm. */
async function putNote(id, text) {
  const response = await fetch(`/api/notes/${encodeURIComponent(id)}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    body: text,
  });
  if (!response.ok) {
    throw new Error(`saving failed with ${response.status}`);
  }
}

module.exports = { putNote };
