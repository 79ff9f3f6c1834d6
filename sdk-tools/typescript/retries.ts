import { RETRIES, retriedCodes, statusesOf } from '../retries.js';

/** The values of sdk/retries.yaml as a module. */
export function retriesSource(): string {
  const { pause } = RETRIES;
  const list = (type: string, values: unknown[]) => `readonly ${type}[] = ${JSON.stringify(values)}`;
  return [
    '// Generated from sdk/retries.yaml.',
    `export const MAX_RETRIES = ${RETRIES.attempts - 1};`,
    `export const ATTEMPT_SECONDS = ${RETRIES.attempt_seconds};`,
    `export const LAST_ATTEMPT_SECONDS = ${RETRIES.last_attempt_seconds};`,
    `export const FIRST_PAUSE_SECONDS = ${pause.first_seconds};`,
    `export const PAUSE_FACTOR = ${pause.factor};`,
    `export const LONGEST_PAUSE_SECONDS = ${pause.longest_seconds};`,
    `export const PAUSE_JITTER = ${pause.jitter};`,
    `export const LONGEST_RETRY_AFTER_SECONDS = ${RETRIES.retry_after.longest_seconds};`,
    `export const BATCH_LINES = ${RETRIES.batch_lines};`,
    `export const ALWAYS: ${list('number', statusesOf('always'))};`,
    `export const CODES: ${list('string', retriedCodes())};`,
    `export const REPEATABLE: ${list('number', statusesOf('repeatable'))};`,
    '',
  ].join('\n');
}
