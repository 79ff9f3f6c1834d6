/** The failed tests of one file. */
type Failure = { file: string; count: number; titles: string[]; message: string };

export const MOST_FILES: number;
export const TIMES: number;
export const REPORT_TITLE: string;
export function lastingReport(failures: Failure[]): string;
export function repeatFailed<Failed extends Failure>(
  record: { passed: number; failures: Failed[] },
  run: { runAlone: (file: string) => Promise<boolean>; write: (text: string) => unknown },
): Promise<{ passed: number; failures: Failed[] }>;
