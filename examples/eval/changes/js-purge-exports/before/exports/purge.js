'use strict';

const fs = require('node:fs/promises');

/** Purges the exports that have expired at `now` (milliseconds). */
async function purgeExpired(store, now) {
  for (const entry of await store.list()) {
    if (entry.expiresAt <= now) {
      await fs.rm(entry.path, { force: true });
      await store.remove(entry.id);
    }
  }
}

module.exports = { purgeExpired };
