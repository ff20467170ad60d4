'use strict';

const { escapeHtml, escapeRegExp } = require('./escape');

/** Returns the comment as HTML with each occurrence of the term marked. */
function highlight(text, term) {
  if (term === '') {
    return escapeHtml(text);
  }
  const pattern = new RegExp(escapeRegExp(term), 'gi');
  return text.replace(pattern, (hit) => `<mark>${escapeHtml(hit)}</mark>`);
}

function renderHit(comment, term) {
  const link = `/threads/${encodeURIComponent(comment.threadId)}`;
  return [
    '<li>',
    `<b>${escapeHtml(comment.author)}</b>`,
    `<p>${highlight(comment.text, term)}</p>`,
    `<a href="${link}">Thread</a>`,
    '</li>',
  ].join('');
}

function renderResults(comments, term) {
  if (comments.length === 0) {
    return `<p>No comment contains “${escapeHtml(term)}”.</p>`;
  }
  return `<ul>${comments.map((comment) => renderHit(comment, term)).join('')}</ul>`;
}

module.exports = { highlight, renderResults };
