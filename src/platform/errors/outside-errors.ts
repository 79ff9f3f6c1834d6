/**
 * What an error from outside of our code means for the request: from PostgreSQL, its driver, the network or a file.
 * This is the only place that decides it. `overloaded` and the three after it change nothing, and the request may be repeated.
 */
export type Meaning =
  /** 503. There is more work than the database does in time, or transactions stop each other each time. */
  | 'overloaded'
  /** 503. A resource is missing for now. */
  | 'unavailable'
  /** 503. The database reads but does not write. /ready then tries whether it does. */
  | 'read_only'
  /** 503. The same, and it takes longer: the disk of the database is full, or fails. */
  | 'unwritable'
  /** 500. Stored data cannot be read. Repeating does not help, and an alert tells the operator. */
  | 'damaged'
  /** 500. A bug of ours, or an installation that does not fit this version. */
  | 'defect';

export const RETRY_AFTER_SECONDS: Partial<Record<Meaning, number>> = {
  overloaded: 2,
  unavailable: 2,
  read_only: 2,
  unwritable: 10,
};

/** All classes of PostgreSQL's error codes (its appendix A). The request was validated, so an error in its data is a bug. */
export const SQLSTATE_CLASSES = {
  '00': 'defect',
  '01': 'defect',
  '02': 'defect',
  '03': 'defect',
  '08': 'unavailable',
  '09': 'defect',
  '0A': 'defect',
  '0B': 'defect',
  '0F': 'defect',
  '0L': 'defect',
  '0P': 'defect',
  '0Z': 'defect',
  '10': 'defect',
  '20': 'defect',
  '21': 'defect',
  '22': 'defect',
  // Constraints with a code of the contract are in db/violations.ts.
  '23': 'defect',
  '24': 'defect',
  '25': 'defect',
  '26': 'defect',
  '27': 'defect',
  // The password or pg_hba.conf has changed: no new connection is possible.
  '28': 'unavailable',
  '2B': 'defect',
  '2D': 'defect',
  '2F': 'defect',
  '34': 'defect',
  '38': 'defect',
  '39': 'defect',
  '3B': 'defect',
  '3D': 'unavailable',
  '3F': 'defect',
  '40': 'unavailable',
  '42': 'defect',
  '44': 'defect',
  '53': 'unavailable',
  '54': 'defect',
  '55': 'defect',
  '57': 'unavailable',
  '58': 'unwritable',
  '72': 'unavailable',
  F0: 'defect',
  HV: 'defect',
  P0: 'defect',
  XX: 'defect',
} satisfies Record<string, Meaning>;

/** The codes that differ from their class. */
export const SQLSTATES = {
  // Also a statement with a wrong number of parameters. db/violations.ts knows pgbouncer's messages.
  '08P01': 'defect',
  '25006': 'read_only',
  // The timeouts of an idle session, a transaction, a lock and a statement.
  '25P03': 'overloaded',
  '25P04': 'overloaded',
  '55P03': 'overloaded',
  '57014': 'overloaded',
  // Transactions that still fail when they have run again.
  '40001': 'overloaded',
  '40P01': 'overloaded',
  '40002': 'defect',
  '53100': 'unwritable',
  '55006': 'unavailable',
  XX001: 'damaged',
  XX002: 'damaged',
} satisfies Record<string, Meaning>;

/** System errors that a lost network, a full disk or an exhausted process causes. All others are bugs. */
export const SYSTEM_ERRORS = [
  'EACCES',
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EAGAIN',
  'EBUSY',
  'ECANCELED',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EDQUOT',
  'EFBIG',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EIO',
  'EMFILE',
  'ENETDOWN',
  'ENETUNREACH',
  'ENFILE',
  'ENOBUFS',
  'ENODEV',
  // Also a socket file of PostgreSQL that does not exist, because the server is stopped.
  'ENOENT',
  'ENOMEM',
  'ENONET',
  'ENOSPC',
  'ENOTCONN',
  // The temporary folder (TMPDIR) is a file.
  'ENOTDIR',
  'ENOTFOUND',
  'ENXIO',
  'EOF',
  'EPERM',
  'EPIPE',
  'EPROTO',
  'EREMOTEIO',
  'EROFS',
  'ESHUTDOWN',
  'ESTALE',
  'ETIMEDOUT',
  'UNKNOWN',
];

/** Errors of Node itself, and of the certificate of the database. */
export const NODE_ERRORS = [
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ERR_SOCKET_CLOSED',
  'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
  'ERR_WORKER_INIT_FAILED',
  'ERR_WORKER_OUT_OF_MEMORY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Our own: a process has met a version of ENCRYPTION_KEYS that was added after its start. */
export const MISSING_KEY = 'ERR_MISSING_ENCRYPTION_KEY';

/** Families of codes. libuv has no name for some errors, for example for a full quota on a disk. */
const PREFIXES = ['EAI_', 'ERR_SSL_', 'Unknown system error'];

const UNAVAILABLE = new Set([...SYSTEM_ERRORS, ...NODE_ERRORS, MISSING_KEY]);

/** Returns what a code means: a SQLSTATE, or the code of a system error or of Node. */
export function meaningOf(code: string): Meaning {
  if (UNAVAILABLE.has(code) || PREFIXES.some((prefix) => code.startsWith(prefix))) return 'unavailable';
  const exact: Partial<Record<string, Meaning>> = SQLSTATES;
  const ofClass: Partial<Record<string, Meaning>> = SQLSTATE_CLASSES;
  const isSqlState = /^[0-9A-Z]{5}$/.test(code);
  return exact[code] ?? (isSqlState ? ofClass[code.slice(0, 2)] : undefined) ?? 'defect';
}
