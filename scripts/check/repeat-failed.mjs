// Repeats the tests that failed in a complete run, alone. See docs/decisions/0117-repeated-tests.md.

/** More failures are no accident of a busy machine. */
export const MOST_FILES = 5;

/** Each time must pass. */
export const TIMES = 2;

/** Tests that measure nothing: one failure is a race, a hole between tenants or a breach of the contract. */
const NEVER_REPEATED = [/-races\.test\.ts$/, /^test\/contract\//, /^test\/security\/isolation/];

/** The first line of what lastingReport() returns. .ci/run prints again what follows it. */
export const REPORT_TITLE = 'Tests that failed:';

/** Returns a report of failed tests for the end of the output: nobody finds them among the lines of 700 files. */
export const lastingReport = (failures) =>
  failures.length === 0
    ? ''
    : `${REPORT_TITLE}\n${failures.map(({ file, titles, message }) => `${[file, ...titles].join('\n  ')}\n${message}\n`).join('')}`;

/**
 * @param record what coverage-reporter.mjs has written: `passed` tests, and of each failing file its path, the count of its
 *   failed tests, their titles and their messages
 * @param runAlone runs one file and nothing beside it; resolves to whether all its tests passed
 * @param write receives what is to be printed
 * @returns the record after the repetition. Files that passed each time have no failure in it.
 */
export async function repeatFailed({ passed, failures }, { runAlone, write }) {
  const isLasting = ({ file }) => NEVER_REPEATED.some((pattern) => pattern.test(file));
  if (failures.length > MOST_FILES || failures.every(isLasting)) return { passed, failures };
  write('Tests that failed are repeated alone. A busy machine exceeds limits of time.\n');
  const lasting = [];
  for (const failure of failures)
    if (isLasting(failure) || !(await passesEachTime(failure, runAlone))) lasting.push(failure);
  const repaired = failures.filter((failure) => !lasting.includes(failure));
  for (const { file, titles } of repaired) {
    write(`Failed beside others, passed ${TIMES} times alone: ${file}\n`);
    write(titles.map((title) => `  ${title}\n`).join(''));
  }
  return { passed: passed + repaired.reduce((sum, { count }) => sum + count, 0), failures: lasting };
}

async function passesEachTime({ file }, runAlone) {
  for (let time = 0; time < TIMES; time += 1) if (!(await runAlone(file))) return false;
  return true;
}
