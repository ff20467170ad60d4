'use strict';

const BASE = process.env.PARTNER_URL;

/**
 * Sends a GET request and resolves with {status, headers, body}.
 * Header names are lower case, the body is a string. Rejects on network errors only.
 */
async function get(path) {
  const response = await fetch(BASE + path);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

module.exports = { get };
