'use strict';

const { allRules } = require('./repository');

const BOX_SIZE = 10;
const DAY_MS = 24 * 60 * 60 * 1000;

function latestRules() {
  return allRules()
    .sort((left, right) => right.changedAt - left.changedAt)
    .slice(0, BOX_SIZE);
}

function ageInDays(rule, now) {
  return Math.floor((now - rule.changedAt) / DAY_MS);
}

/** Returns the entries of the dashboard box; times are in milliseconds. */
function ruleBox(now) {
  return latestRules().map((rule) => ({
    name: rule.name,
    author: rule.changedBy,
    days: ageInDays(rule, now),
    disabled: !rule.enabled,
  }));
}

module.exports = { ruleBox };
