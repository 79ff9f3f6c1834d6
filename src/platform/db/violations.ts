import { ApiError, type PlainCode } from '../errors/errors.js';
import { meaningOf, RETRY_AFTER_SECONDS, type Meaning } from '../errors/outside-errors.js';

// The failure code for each constraint or index. The violation of any other constraint is a bug and becomes a 500.
const CODE_BY_CONSTRAINT: Record<string, PlainCode> = {
  users_tenant_id_username_key: 'duplicate_username',
  users_tenant_id_courier_id_fkey: 'courier_not_found',
  prealerts_tenant_id_courier_id_tracking_number_key: 'duplicate_tracking_number',
  prealerts_tenant_id_courier_id_announced_key_key: 'duplicate_tracking_number',
  prealerts_tenant_id_courier_id_fkey: 'courier_not_found',
  customers_tenant_id_courier_id_user_code_key: 'duplicate_user_code',
  customers_tenant_id_courier_id_fkey: 'courier_not_found',
  packages_tenant_id_courier_id_fkey: 'courier_not_found',
  packages_tenant_id_carrier_id_fkey: 'carrier_not_found',
  packages_tenant_id_warehouse_id_fkey: 'warehouse_not_found',
  packages_tenant_id_manifest_id_fkey: 'manifest_not_empty',
  manifests_tenant_id_warehouse_id_fkey: 'warehouse_not_found',
  couriers_tenant_id_code_key: 'duplicate_courier_code',
  warehouses_tenant_id_name_key: 'duplicate_warehouse_name',
  warehouses_one_of_a_name: 'duplicate_warehouse_name',
  carriers_tenant_id_name_key: 'duplicate_carrier_name',
  carriers_one_of_a_name: 'duplicate_carrier_name',
};

// The id of a scan comes from the device. If another transaction stores it meanwhile, the next attempt finds it. The next attempt also finds
// that a package is gone, if its receipt was voided between the statement that has read it and the one that refers to it.
const FOUND_BY_NEXT_ATTEMPT = new Set([
  'scans_pkey',
  'bill_lines_tenant_id_package_id_fkey',
  'label_jobs_tenant_id_package_id_fkey',
  'package_events_tenant_id_package_id_fkey',
  'package_syncs_tenant_id_package_id_fkey',
]);

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
// PostgreSQL 18 reports this for `on delete restrict`; earlier versions report 23503.
const RESTRICT_VIOLATION = '23001';
const INTEGRITY = new Set([UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION, RESTRICT_VIOLATION]);
const NO_RIGHT = '42501';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';

const UNAVAILABLE_MESSAGES =
  /timeout exceeded when trying to connect|timeout expired|connection terminated|connection error|not queryable|server closed the connection/i;
// PostgreSQL gives these errors of the disk the codes of a missing right and of an internal error.
const DISK_MESSAGES =
  /could not [^:]*: (Read-only file system|File too large|Disk quota exceeded|Stale file handle)/;
// pgbouncer without a server. Its code, 08P01, is also that of statements with a wrong number of parameters.
const POOLER_MESSAGES =
  /server conn crashed|query_wait_timeout|cannot connect to server|server_login_retry|server login (has been failing|failed)|(SASL|password) authentication failed|no such (user|database)|no more connections allowed|client_login_timeout|bouncer config error|auth failed|login rejected|database (\S+ )?is (disabled|paused)|pgbouncer is shutting down|database removed|query_timeout|idle transaction timeout/i;

/**
 * Converts an error of the database, the network or a file to the ApiError for the caller. Returns undefined for a bug.
 */
export function apiErrorOfViolation(error: unknown): ApiError | undefined {
  const { code, constraint } = readErrorDetails(error);
  const failureCode = CODE_BY_CONSTRAINT[constraint ?? ''];
  if (code && INTEGRITY.has(code) && failureCode) return new ApiError(failureCode);
  if (code === NO_RIGHT && isHiddenKey(error)) return new ApiError('idempotency_key_reused');
  if (isFoundByNextAttempt(error)) return new ApiError('overloaded', { retryAfterSeconds: 1 });
  const meaning = meaningOfError(error);
  const retryAfterSeconds = RETRY_AFTER_SECONDS[meaning];
  if (retryAfterSeconds === undefined) return undefined;
  return new ApiError(meaning === 'overloaded' ? meaning : 'unavailable', { retryAfterSeconds });
}

/**
 * An Idempotency-Key that its user has used for another courier, whose rows it no longer sees. PostgreSQL 15 checks that right before the
 * condition of the upsert, later versions after it.
 */
const isHiddenKey = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('idempotency_keys');

/** Returns what an error of the database, the network or a file means. */
export function meaningOfError(error: unknown): Meaning {
  const meaning = meaningOf(sqlStateOf(error) ?? '');
  if (meaning !== 'defect' || !(error instanceof Error)) return meaning;
  if (DISK_MESSAGES.test(error.message)) return 'unwritable';
  // Errors of the pooler have a SQLSTATE, unlike our own, whose texts may say the same.
  const isOfPooler = isSqlState(sqlStateOf(error) ?? '') && POOLER_MESSAGES.test(error.message);
  const isAway = UNAVAILABLE_MESSAGES.test(error.message) || isOfPooler;
  return isAway ? 'unavailable' : 'defect';
}

const LOGIN_MESSAGES =
  /server_login_retry|server login (has been failing|failed)|(SASL|password) authentication failed|no such user|auth failed|login rejected/i;

/** Returns whether PostgreSQL or a pooler has refused the login, for example its password. */
export function isRefusedLogin(error: unknown): boolean {
  const code = sqlStateOf(error) ?? '';
  return (
    code.startsWith('28') ||
    (error instanceof Error && isSqlState(code) && LOGIN_MESSAGES.test(error.message))
  );
}

/** Returns whether work failed because the database cannot be reached or does not respond in time. */
export const isAway = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.code === 'unavailable'
    : ['unavailable', 'overloaded'].includes(meaningOfError(error));

/** Returns the SQLSTATE of an error, or another code if it has none. */
export const sqlStateOf = (error: unknown): string | undefined => readErrorDetails(error).code;

/** Returns whether the same transaction may succeed if it runs again. */
export function isRetryable(error: unknown): boolean {
  const { code } = readErrorDetails(error);
  const isAborted = code === DEADLOCK || code === SERIALIZATION_FAILURE;
  return isAborted || isFoundByNextAttempt(error);
}

function isFoundByNextAttempt(error: unknown): boolean {
  const { code, constraint } = readErrorDetails(error);
  const isViolation = code === UNIQUE_VIOLATION || code === FOREIGN_KEY_VIOLATION;
  return isViolation && constraint !== undefined && FOUND_BY_NEXT_ATTEMPT.has(constraint);
}

/** Returns whether PostgreSQL refused a row for what it contains, so that the other rows of the transaction may succeed. */
export const isRefusedRow = (error: unknown): boolean => /^(22|23)/.test(readErrorDetails(error).code ?? '');

/** Returns whether the error is a violation of this unique constraint. */
export function violates(error: unknown, constraint: string): boolean {
  const found = readErrorDetails(error);
  return found.code === UNIQUE_VIOLATION && found.constraint === constraint;
}

type ErrorDetails = { code: string | undefined; constraint: string | undefined };

/** Returns the code (SQLSTATE or system) and the constraint of an error or of its cause. */
function readErrorDetails(error: unknown): ErrorDetails {
  const found: ErrorDetails = { code: undefined, constraint: undefined };
  const seen = new Set<unknown>();
  for (let node = error; typeof node === 'object' && node !== null && !seen.has(node);) {
    seen.add(node);
    const fields = node as Record<string, unknown>;
    const { code } = fields;
    if (typeof code === 'string' && (!found.code || isSqlState(code))) found.code = code;
    found.constraint ??= constraintOf(fields);
    node = fields['cause'];
  }
  return found;
}

const isSqlState = (code: string) => /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('P');

function constraintOf(fields: Record<string, unknown>): string | undefined {
  if (typeof fields['constraint'] === 'string') return fields['constraint'];
  const { message } = fields;
  return typeof message === 'string' ? /constraint "([^"]+)"/.exec(message)?.[1] : undefined;
}

const READ_ONLY =
  'The database accepts no writes: its server is a standby, or default_transaction_read_only is on. ' +
  "Use the primary's URL, or reset the setting as DatabaseNotWritable in docs/operations.md describes, and repeat.";

const UNWRITABLE =
  'The database stores nothing, because the disk of its server is full or fails. Free space on it or enlarge it, as DatabaseNotWritable in ' +
  'docs/operations.md describes, and repeat.';

/** Returns one line for the operator. PostgreSQL's own message about a database that stores nothing has no remedy. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const meaning = meaningOfError(error);
  if (meaning === 'read_only') return READ_ONLY;
  // A file of our own machine has no SQLSTATE.
  const isOfDatabase = isSqlState(sqlStateOf(error) ?? '');
  return meaning === 'unwritable' && isOfDatabase ? `${message.replace(/\.$/, '')}. ${UNWRITABLE}` : message;
}
