'use strict';

/** Formats minutes since midnight as HH:MM. */
function label(minutes) {
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0');
  return `${hours}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Returns true if two half-open intervals {from, to} in minutes overlap. */
function overlaps(left, right) {
  return left.from < right.to && right.from < left.to;
}

module.exports = { label, overlaps };
