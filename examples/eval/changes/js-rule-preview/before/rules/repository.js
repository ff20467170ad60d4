'use strict';

let cached = [];

/** Replaces the rules after a reload; `rules` is in the order of evaluation. */
function setRules(rules) {
  cached = rules;
}

/**
 * Returns all rules in the order of evaluation. The array is shared between the
 * requests and the filter; callers must not change it.
 */
function allRules() {
  return cached;
}

/** Returns the action of the first enabled rule that matches, 'allow' without a match. */
function evaluate(message) {
  const rule = cached.find((candidate) => candidate.enabled && candidate.matches(message));
  return rule ? rule.action : 'allow';
}

module.exports = { setRules, allRules, evaluate };
