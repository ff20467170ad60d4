'use strict';

class SessionStore {
  constructor(db) {
    this.db = db;
  }

  async create(userId, token) {
    await this.db.run('INSERT INTO sessions (user_id, token) VALUES (?, ?)', [userId, token]);
  }

  /** Ends one session. */
  async end(token) {
    await this.db.run('DELETE FROM sessions WHERE token = ?', [token]);
  }

  /** Ends all sessions of the user except the one with `token`. */
  async endOthers(userId, token) {
    await this.db.run('DELETE FROM sessions WHERE user_id = ? AND token <> ?', [userId, token]);
  }
}

module.exports = { SessionStore };
