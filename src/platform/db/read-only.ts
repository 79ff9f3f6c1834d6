import { meaningOfError } from './violations.js';

const READ_ONLY =
  'The database accepts no writes: its server is a standby, or default_transaction_read_only is on. ' +
  "Use the primary's URL, or reset the setting as DatabaseNotWritable in docs/operations.md describes, and repeat.";

/** Returns one line for the operator. PostgreSQL's own message about a database that is read-only names neither the reason nor the remedy. */
export function describeFailure(error: unknown): string {
  if (meaningOfError(error) === 'read_only') return READ_ONLY;
  return error instanceof Error ? error.message : String(error);
}
