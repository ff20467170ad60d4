'use strict';

const fs = require('node:fs/promises');

async function purgeExport(store, entry) {
  await fs.rm(entry.path, { force: true });
  await store.remove(entry.id);
  return entry.bytes;
}

/** Purges the exports that have expired at `now` (milliseconds). */
async function purgeExpired(store, now, log) {
  const entries = await store.list();
  const expired = entries.filter((entry) => entry.expiresAt <= now);
  let purged = 0;
  let freed = 0;
  expired.forEach(async (entry) => {
    const bytes = await purgeExport(store, entry);
    freed += bytes;
    purged += 1;
  });
  log(`purged ${purged} exports, freed ${freed} bytes`);
  return { purged, freed };
}

module.exports = { purgeExpired };
