import { PAGE_SIZE } from '../parts/page-size.js';
import { RETRIES, retriedCodes, statusesOf } from '../retries.js';

/** The values of sdk/retries.yaml as constants of a PHP class. */
export function retryConstants(): string[] {
  const { pause } = RETRIES;
  const values: [name: string, value: unknown][] = [
    ['MAX_RETRIES', RETRIES.attempts - 1],
    ['CONNECT_SECONDS', RETRIES.connect_seconds],
    ['ATTEMPT_SECONDS', RETRIES.attempt_seconds],
    ['LAST_ATTEMPT_SECONDS', RETRIES.last_attempt_seconds],
    ['FIRST_PAUSE_SECONDS', pause.first_seconds],
    ['PAUSE_FACTOR', pause.factor],
    ['LONGEST_PAUSE_SECONDS', pause.longest_seconds],
    ['PAUSE_JITTER', pause.jitter],
    ['LONGEST_RETRY_AFTER_SECONDS', RETRIES.retry_after.longest_seconds],
    ['BATCH_LINES', RETRIES.batch_lines],
    ['PAGE_SIZE', PAGE_SIZE],
    ['ALWAYS', statusesOf('always')],
    ['CODES', retriedCodes()],
    ['REPEATABLE', statusesOf('repeatable')],
  ];
  // Numbers, texts and lists of them are written in PHP as in JSON.
  return values.map(([name, value]) => `    public const ${name} = ${JSON.stringify(value)};`);
}
