// Prints the progress of a run every 15 seconds: files and tests that have ended, and the files that run. In a terminal
// jest itself shows this.
import { basename } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';

const INTERVAL_MS = 15_000;

export default class ProgressReporter {
  running = new Set();
  tests = 0;
  done = 0;

  onRunStart({ numTotalTestSuites, startTime }) {
    if (process.stdout.isTTY || numTotalTestSuites === 1) return;
    this.timer = setInterval(() => this.print(numTotalTestSuites, startTime), INTERVAL_MS);
  }

  onTestFileStart({ path }) {
    this.running.add(basename(path, '.test.ts'));
  }

  onTestCaseResult() {
    this.tests += 1;
  }

  onTestFileResult({ path }, _result, { numFailedTestSuites, numPassedTestSuites }) {
    this.running.delete(basename(path, '.test.ts'));
    this.done = numFailedTestSuites + numPassedTestSuites;
  }

  print(total, startTime) {
    const seconds = Math.round((Date.now() - startTime) / 1_000);
    const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const names = [...this.running].join(', ');
    process.stdout.write(
      `${elapsed}  ${this.done} of ${total} files, ${this.tests} tests; running: ${names}\n`,
    );
  }

  onRunComplete() {
    clearInterval(this.timer);
  }
}
