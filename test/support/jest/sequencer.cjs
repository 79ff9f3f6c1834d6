// Starts the files that take longest first, so that all jest workers finish at about the same time, and at most two files at a time
// that mostly wait, so that the others use both cores. On a fresh clone jest has no durations and orders the files by size.
const { join, relative, sep } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const { seconds, waiting } = require('./durations.json');

/** The files that mostly wait, at a time. */
const MOST_WAITING = 2;

/** Used for a file that is not in the list. */
const ORDINARY_SECONDS = 3;

const nameOf = ({ path, context }) =>
  relative(join(context.config.rootDir, 'test'), path).split(sep).join('/');
const secondsOf = (test) => seconds[nameOf(test)] ?? ORDINARY_SECONDS;

module.exports = class LongestFirst extends Sequencer {
  constructor(options) {
    super(options);
    this.workers = options.globalConfig.maxWorkers;
  }

  /** Plays the run with the recorded durations: a worker that has ended its file takes the next one. */
  sort(tests) {
    const sorted = [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || a.path.localeCompare(b.path));
    const [waits, computes] = [true, false].map((kind) =>
      sorted.filter((test) => waiting.includes(nameOf(test)) === kind),
    );
    const workers = Array.from({ length: this.workers }, () => ({ endsAt: 0, files: undefined }));
    return sorted.map(() => {
      const worker = workers.reduce((first, each) => (each.endsAt < first.endsAt ? each : first));
      const waitingNow = workers.filter((each) => each !== worker && each.files === waits).length;
      worker.files =
        waits.length > 0 && (waitingNow < MOST_WAITING || computes.length === 0) ? waits : computes;
      const test = worker.files.shift();
      worker.endsAt += secondsOf(test);
      return test;
    });
  }
};
