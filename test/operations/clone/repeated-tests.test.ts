import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  MOST_FILES,
  REPORT_TITLE,
  TIMES,
  lastingReport,
  repeatFailed,
} from '../../../scripts/check/repeat-failed.mjs';

// A complete run repeats tests that failed beside others. See docs/decisions/0117-repeated-tests.md.

const failureIn = (file: string, count = 1) => ({
  file,
  count,
  titles: Array.from({ length: count }, (_, at) => `title ${at} of ${file}`),
  message: `Expected: 1 in ${file}`,
});
const SLOW = failureIn('test/modules/slow.test.ts', 2);
const BROKEN = failureIn('test/modules/broken.test.ts');

/** Repeats, where `passes` says of a file whether each of its runs passes. Returns also what ran and what was printed. */
async function repeat(failures: (typeof SLOW)[], passes: Record<string, boolean[]>) {
  const ran: string[] = [];
  let text = '';
  const result = await repeatFailed(
    { passed: 100, failures },
    {
      runAlone: async (file) => {
        ran.push(file);
        return passes[file]?.shift() ?? false;
      },
      write: (part) => (text += part),
    },
  );
  return { ...result, ran, text };
}

describe('a test that failed in a complete run', () => {
  test('counts as passed if it passes each time alone, and is named', async () => {
    const { passed, failures, ran, text } = await repeat([SLOW], { [SLOW.file]: [true, true] });
    expect({ passed, failures, ran }).toEqual({ passed: 102, failures: [], ran: [SLOW.file, SLOW.file] });
    expect(text).toContain(`passed ${TIMES} times alone: ${SLOW.file}\n  title 0 of ${SLOW.file}\n  title 1`);
  });

  test.each([
    ['at once', [false]],
    ['the second time', [true, false]],
  ])('counts as failed if it fails again %s', async (_when, again) => {
    const passes = { [SLOW.file]: [true, true], [BROKEN.file]: again };
    const { passed, failures, text } = await repeat([SLOW, BROKEN], passes);
    expect({ passed, failures }).toEqual({ passed: 102, failures: [BROKEN] });
    expect(text).not.toContain(BROKEN.file);
  });

  test('is not repeated if many files failed', async () => {
    const many = Array.from({ length: MOST_FILES + 1 }, (_, at) => failureIn(`test/modules/${at}.test.ts`));
    const { passed, failures, ran } = await repeat(many, {});
    expect({ passed, failures, ran }).toEqual({ passed: 100, failures: many, ran: [] });
  });

  test.each([
    'test/modules/packages/update/update-races.test.ts',
    'test/contract/fuzz.test.ts',
    'test/security/isolation.test.ts',
    'test/security/isolation/tokens.test.ts',
  ])('is not repeated if it measures nothing, as in %s', async (file) => {
    const failure = failureIn(file);
    const { passed, failures, ran } = await repeat([failure, SLOW], {
      [file]: [true, true],
      [SLOW.file]: [true, true],
    });
    expect({ passed, failures, ran }).toEqual({
      passed: 102,
      failures: [failure],
      ran: [SLOW.file, SLOW.file],
    });
  });

  test('is named at the end of the output, with its message, and CI prints it once more', () => {
    expect(lastingReport([])).toBe('');
    expect(lastingReport([BROKEN])).toBe(
      `${REPORT_TITLE}\n${BROKEN.file}\n  ${BROKEN.titles[0]}\n${BROKEN.message}\n`,
    );
    expect(readFileSync('.ci/run', 'utf8')).toContain(`/^${REPORT_TITLE}$/`);
  });
});
