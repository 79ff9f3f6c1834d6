/** `npm run test:long` repeats races, seeds and rounds more often than the gate has time for. */
const isLong = process.env['TEST_LONG'] === '1';

/** How often to do something: `gate` times in every run, `long` times in `npm run test:long`. */
export const rounds = (gate: number, long: number): number => (isLong ? long : gate);
