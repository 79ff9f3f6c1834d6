// Starts the files that take longest first, so that all jest workers finish at about the same time. On a fresh clone jest
// has no durations and orders the files by size.
const { basename } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const seconds = require('./durations.json');

/** Used for a file that is not in the list. */
const ORDINARY_SECONDS = 3;

const secondsOf = ({ path }) => seconds[basename(path)] ?? ORDINARY_SECONDS;

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || a.path.localeCompare(b.path));
  }
};
