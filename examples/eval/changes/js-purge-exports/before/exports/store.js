'use strict';

class ExportStore {
  constructor(db) {
    this.db = db;
  }

  /** Resolves with all rows: {id, path, bytes, expiresAt}. */
  async list() {
    return this.db.all('SELECT id, path, bytes, expires_at AS expiresAt FROM exports');
  }

  async remove(id) {
    await this.db.run('DELETE FROM exports WHERE id = ?', [id]);
  }
}

module.exports = { ExportStore };
