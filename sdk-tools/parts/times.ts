import type { Contract, Schema } from '../contract.js';
import { resolveSchema } from '../operations.js';

/** `time`: date and time in UTC. `date`: a calendar date. */
export type TimeKind = 'time' | 'date';

/** Returns which kind of time a text of the contract is, or undefined for all other values. */
export function kindOf(contract: Contract, schema: Schema): TimeKind | undefined {
  const { format, pattern } = resolveSchema(contract, schema);
  if (format === 'date') return 'date';
  return typeof pattern === 'string' && pattern === UTC_TIME ? 'time' : undefined;
}

/** The pattern of `UtcDateTime`, `2026-11-21 08:30:00`. */
const UTC_TIME = String.raw`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`;
