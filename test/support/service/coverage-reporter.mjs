// After a complete run, fails if a declared fact of the contract was never observed, or if a response was not declared. Records
// the result for scripts/test.mjs, which repeats tests that failed.
import { writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { compareFacts } from '../contract/contract-facts.mjs';

/** The result of the last complete run, as repeat-failed.mjs reads it. */
const RECORD = 'coverage/run.json';

/** What was expected and what came, of a few tests. The whole message is where the test failed. */
const MAX_MESSAGE_CHARS = 1_500;

export default class CoverageReporter {
  constructor(globalConfig) {
    this.root = globalConfig.rootDir;
    this.isWholeRun = globalConfig.testPathPatterns.patterns.length === 0 && !globalConfig.testNamePattern;
  }

  onRunComplete(_contexts, results) {
    if (!this.isWholeRun) return;
    const { asked, seen, faults } = compareFacts();
    process.stdout.write(`Contract: ${seen} of ${asked} declared facts seen.\n`);
    process.stdout.write(faults.map((fault) => `${fault}\n`).join(''));
    if (faults.length > 0) this.error = new Error(faults.join('\n'));
    const { numPassedTests: passed, testResults } = results;
    const failures = testResults.filter(hasFailed).map((result) => this.failureOf(result));
    writeFileSync(join(this.root, RECORD), JSON.stringify({ passed, failures }));
    const failed = failures.reduce((sum, { count }) => sum + count, 0);
    process.stdout.write(`${passed} passed, ${failed + faults.length} failed\n`);
  }

  /** A file that fails to load has no failed tests, and counts as one. */
  failureOf({ testFilePath, numFailingTests, testResults, failureMessage }) {
    return {
      file: relative(this.root, testFilePath).split(sep).join('/'),
      count: Math.max(numFailingTests, 1),
      titles: testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
      message: stripVTControlCharacters(failureMessage ?? '').slice(0, MAX_MESSAGE_CHARS),
    };
  }

  getLastError() {
    return this.error;
  }
}

const hasFailed = ({ numFailingTests, testExecError }) => numFailingTests > 0 || Boolean(testExecError);
