'use strict';

const { putNote } = require('./api');

class Autosave {
  constructor(noteId, text, { delayMs = 800, save = putNote, onError }) {
    this.noteId = noteId;
    this.text = text;
    this.saved = text;
    this.delayMs = delayMs;
    this.save = save;
    this.onError = onError;
    this.timer = null;
    this.saving = false;
  }

  /** Called with the whole text after each keystroke. */
  change(text) {
    this.text = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), this.delayMs);
  }

  /** Called when the field loses focus. */
  blur() {
    clearTimeout(this.timer);
    this.flush();
  }

  async flush() {
    // A running flush picks the newest text up in its loop.
    if (this.saving) {
      return;
    }
    this.saving = true;
    try {
      while (this.text !== this.saved) {
        const text = this.text;
        await this.save(this.noteId, text);
        this.saved = text;
      }
    } catch (error) {
      this.onError(error);
    } finally {
      this.saving = false;
    }
  }
}

module.exports = { Autosave };
