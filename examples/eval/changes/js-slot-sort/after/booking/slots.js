'use strict';

const { label, overlaps } = require('./clock');

const QUICK_CHOICES = 3;

function slotsOf(opening, length) {
  const slots = [];
  for (let from = opening.from; from + length <= opening.to; from += length) {
    slots.push({ from, to: from + length });
  }
  return slots;
}

/**
 * Returns the start minutes of the free slots of a day. Openings and bookings are
 * {from, to} in minutes since midnight.
 */
function freeSlots(openings, bookings, length) {
  return openings
    .flatMap((opening) => slotsOf(opening, length))
    .filter((slot) => !bookings.some((booking) => overlaps(slot, booking)))
    .map((slot) => slot.from)
    .sort();
}

function slotPage(openings, bookings, length) {
  const labels = freeSlots(openings, bookings, length).map(label);
  return { quick: labels.slice(0, QUICK_CHOICES), all: labels };
}

module.exports = { freeSlots, slotPage };
