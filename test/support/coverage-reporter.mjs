// After a whole run: every operation and status that the contract declares must have been seen.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..');

// Faults of ours, which no request can be made to cause at will.
const NOT_ASKED_FOR = new Set([500, 503]);

export default class CoverageReporter {
  constructor(globalConfig) {
    this.isWholeRun = globalConfig.testPathPatterns.patterns.length === 0 && !globalConfig.testNamePattern;
  }

  onRunComplete(_contexts, results) {
    if (!this.isWholeRun) return;
    const declared = declaredPairs();
    const seen = seenPairs();
    const missing = declared.filter((pair) => !seen.has(pair));
    process.stdout.write(
      `Contract: ${declared.length - missing.length} of ${declared.length} declared statuses seen.\n`,
    );
    if (missing.length > 0) process.stdout.write(`Declared but never seen: ${missing.join(', ')}\n`);
    if (missing.length > 0) this.error = new Error(`Declared but never seen:\n${missing.join('\n')}`);
    const { numPassedTests, numFailedTests, numFailedTestSuites } = results;
    // a suite that cannot even load has no failed test to count
    this.failed = Math.max(numFailedTests, numFailedTestSuites) + missing.length;
    process.stdout.write(`${numPassedTests} passed, ${this.failed} failed\n`);
  }

  getLastError() {
    return this.error;
  }
}

function declaredPairs() {
  const { paths } = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8'));
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .filter((operation) => operation.operationId)
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => !NOT_ASKED_FOR.has(Number(status)))
        .map((status) => `${operationId} ${status}`),
    );
}

function seenPairs() {
  const folder = join(root, 'coverage', 'contract');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return new Set(files.flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n')));
}
