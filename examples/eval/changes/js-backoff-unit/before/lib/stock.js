'use strict';

const { get } = require('./http');

class PartnerError extends Error {
  constructor(status) {
    super(`partner answered ${status}`);
    this.name = 'PartnerError';
    this.status = status;
  }
}

async function fetchQuantity(sku) {
  const response = await get(`/stock/${encodeURIComponent(sku)}`);
  if (response.status !== 200) {
    throw new PartnerError(response.status);
  }
  return JSON.parse(response.body).quantity;
}

module.exports = { PartnerError, fetchQuantity };
