'use strict';

const { get } = require('./http');
const { setTimeout: sleep } = require('node:timers/promises');

const MAX_ATTEMPTS = 4;
const DEFAULT_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;

class PartnerError extends Error {
  constructor(status) {
    super(`partner answered ${status}`);
    this.name = 'PartnerError';
    this.status = status;
  }
}

/** Returns the pause in milliseconds that a 429 answer asks for. */
function waitMs(headers) {
  const backoff = headers['x-backoff'];
  if (backoff === undefined || !/^\d+$/.test(backoff)) {
    return DEFAULT_WAIT_MS;
  }
  return Math.min(Number(backoff) * 1000, MAX_WAIT_MS);
}

async function fetchQuantity(sku) {
  for (let attempt = 1; ; attempt++) {
    const response = await get(`/stock/${encodeURIComponent(sku)}`);
    if (response.status === 200) {
      return JSON.parse(response.body).quantity;
    }
    if (response.status !== 429 || attempt === MAX_ATTEMPTS) {
      throw new PartnerError(response.status);
    }
    await sleep(waitMs(response.headers));
  }
}

module.exports = { PartnerError, fetchQuantity, waitMs };
