'use strict';

const { hashPassword, verifyPassword } = require('./hashing');

const MIN_LENGTH = 12;

/** Checks the rules for a new password; returns an error code or null. */
function refusal(current, next) {
  if (next.length < MIN_LENGTH) {
    return 'too-short';
  }
  if (next === current) {
    return 'unchanged';
  }
  return null;
}

class PasswordChange {
  constructor({ users, sessions, mailer }) {
    this.users = users;
    this.sessions = sessions;
    this.mailer = mailer;
  }

  /** Changes the password of the user who owns `session`; resolves with {error} or {}. */
  async run(session, current, next) {
    const user = await this.users.get(session.userId);
    if (!(await verifyPassword(current, user.passwordHash))) {
      return { error: 'wrong-password' };
    }
    const error = refusal(current, next);
    if (error !== null) {
      return { error };
    }
    await this.users.setPasswordHash(user.id, await hashPassword(next));
    await this.mailer.send(user.email, 'password-changed');
    return {};
  }
}

module.exports = { PasswordChange };
