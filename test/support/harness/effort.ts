/** `npm run test:long` repeats races, seeds and rounds more often than the default run has time for. */
const isLong = process.env['TEST_LONG'] === '1';

/** Returns a number of repetitions: `gate` in a default run, `long` in `npm run test:long`. */
export const rounds = (gate: number, long: number): number => (isLong ? long : gate);
