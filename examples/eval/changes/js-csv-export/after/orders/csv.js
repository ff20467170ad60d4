'use strict';

const { COLUMNS } = require('./columns');

const SEPARATOR = ';';
const LINE_END = '\r\n';
const FORMULA_START = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[;"\r\n]/;

function formatText(text) {
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function formatValue(value) {
  if (value === null) {
    return '';
  }
  if (typeof value === 'number') {
    return String(value).replace('.', ',');
  }
  return formatText(value);
}

function formatLine(values) {
  return values.map(formatValue).join(SEPARATOR) + LINE_END;
}

/** Returns the CSV text of the orders, header included. */
function ordersToCsv(orders) {
  const header = formatLine(COLUMNS.map((column) => column.title));
  const lines = orders.map((order) => formatLine(COLUMNS.map((column) => column.value(order))));
  return header + lines.join('');
}

module.exports = { ordersToCsv };
