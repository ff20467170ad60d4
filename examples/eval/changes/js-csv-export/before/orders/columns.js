'use strict';

/**
 * Columns of the order list. A value is a string, null, or a number with at most two
 * decimal places and an absolute value below 1e9.
 */
const COLUMNS = [
  { title: 'Order', value: (order) => order.number },
  { title: 'Customer', value: (order) => order.customer },
  { title: 'Amount', value: (order) => order.cents / 100 },
  { title: 'Remark', value: (order) => order.remark },
];

module.exports = { COLUMNS };
