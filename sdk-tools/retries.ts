import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../src/config/project-root.js';

/** When clients send a request again. The comments of `sdk/retries.yaml` explain each value. */
export type Retries = {
  attempts: number;
  connect_seconds: number;
  attempt_seconds: number;
  last_attempt_seconds: number;
  pause: { first_seconds: number; factor: number; longest_seconds: number; jitter: number };
  retry_after: { longest_seconds: number };
  batch_lines: number;
  no_response: { not_sent: Rule; lost: Rule };
  statuses: { status: number; code?: string; retry: Rule }[];
};

type Rule = 'always' | 'repeatable';

export const RETRIES_FILE = join(projectRoot, 'sdk', 'retries.yaml');

/** The only table of retries. */
// The file is ours, and retries.test.ts checks its form.
export const RETRIES = parse(readFileSync(RETRIES_FILE, 'utf8')) as Retries;

/** Returns the statuses with a rule, without those that are retried for one code only. */
export function statusesOf(rule: Rule): number[] {
  const found = RETRIES.statuses.filter(({ code, retry }) => code === undefined && retry === rule);
  return found.map(({ status }) => status);
}

/** Returns the codes that are retried although their status is not. */
export function retriedCodes(): string[] {
  return RETRIES.statuses.flatMap(({ code }) => (code === undefined ? [] : [code]));
}
