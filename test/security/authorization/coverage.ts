import { rounds } from '../../support/harness/effort.js';
import { PRINCIPALS, type Principal } from '../../support/service/principals.js';
import { GROUPS, KINDS, rows, type Kind, type MatrixRow } from './matrix.js';

// Which principals call a case of the matrix with which kinds of id. `npm run test:long` sends all combinations. The default
// run sends each pair: a case with each kind of id, and an operation with each principal.

export const isWholeMatrix = rounds(0, 1) === 1;

const WELL_FORMED = KINDS.filter((kind) => kind !== 'malformed');

/**
 * Callers for one layer alone: staff, a courier, and a courier's key, each with the ids whose records this layer must hide.
 * The scope of a query depends on the tenant and the courier only, so another role of the same tenant reads and writes the
 * same rows. Staff have the scope of their tenant; the others have that of their courier too.
 */
const CALLER_PER_SCOPE: Partial<Record<Principal, readonly Kind[]>> = {
  admin: ['other'],
  iex: ['sibling'],
  'key IEX': ['sibling'],
};
/** For calls that staff may not make. */
const CALLER_WITHOUT_STAFF: readonly Kind[] = ['sibling', 'other'];

/** Principals that differ from another one of the same role only in their ids. */
const REPEATS_A_ROLE: readonly Principal[] = ['hrb', 'two/admin', 'two/two', 'key TWO'];

/** The PDF contains the rows of the CSV file, which is another case, and rendering it takes long. The documents contain no row. */
const CALLERS_OF_COSTLY_CASES: Partial<Record<MatrixRow['title'], readonly Principal[]>> = {
  'downloadCourierBill as a PDF': ['iex'],
  'getManifestDocument as a PDF': ['warehouse'],
  getHealth: ['anonymous', 'iex'],
  getContractJson: ['anonymous', 'iex'],
  getSdkContract: ['anonymous', 'iex'],
  getContractYaml: ['anonymous', 'iex'],
};

/** Returns the cases that depend on a layer. */
export const casesOf = (isSingleLayer: boolean): MatrixRow[] =>
  isWholeMatrix || !isSingleLayer
    ? rows
    : rows.filter(({ title }) => CALLERS_OF_COSTLY_CASES[title] === undefined);

/** Returns the kinds of id that a principal sends in a case. */
export function kindsOf(row: MatrixRow, principal: Principal, isSingleLayer: boolean): readonly Kind[] {
  const statuses = row.expected[GROUPS[principal]];
  // Refusals by credential, permission or validation reach no row in any layer. Both layers together prove them.
  if (isSingleLayer && isRefused(statuses)) return [];
  const kinds = isSingleLayer ? kindsOfSingleLayer(principal, row) : kindsOfBothLayers(principal, row);
  // A single status belongs to a call without an id.
  if (statuses.length === 1) return kinds.length > 0 ? ['own'] : [];
  return KINDS.filter((kind) => kinds.includes(kind));
}

const isRefused = (statuses: readonly number[]) =>
  statuses.every((status) => status === 401 || status === 403);

/** Malformed ids reach no row in any layer. */
function kindsOfSingleLayer(principal: Principal, { expected }: MatrixRow): readonly Kind[] {
  if (isWholeMatrix) return WELL_FORMED;
  const kinds = CALLER_PER_SCOPE[principal] ?? [];
  return isRefused(expected.admins) && kinds.length > 0 ? CALLER_WITHOUT_STAFF : kinds;
}

function kindsOfBothLayers(principal: Principal, row: MatrixRow): readonly Kind[] {
  if (isWholeMatrix) return KINDS;
  if (isRefused(row.expected[GROUPS[principal]])) return kindsOfRefused(principal, row);
  const callers = CALLERS_OF_COSTLY_CASES[row.title];
  if (callers && !callers.includes(principal)) return [];
  if (isRepetition(principal, row)) return kindsOfRepetition(principal, row);
  return kindsOfCaller(principal, row);
}

/**
 * The credential and the permission are checked before the body and the id are read, so one case of an operation proves the
 * refusal, and two kinds of one principal prove that the id has no effect.
 */
function kindsOfRefused(principal: Principal, { operation, title, expected }: MatrixRow): readonly Kind[] {
  const group = GROUPS[principal];
  const first = rows.find((row) => row.operation === operation && isRefused(row.expected[group]));
  if (first?.title !== title) return [];
  const isWithoutCredential = expected[group].every((status) => status === 401);
  if (isWithoutCredential && SENT_BY_STATUSES.includes(principal)) return [];
  return principal === 'iex' && !isWithoutCredential ? ['own', 'unknown'] : ['own'];
}

/** statuses.test.ts sends all operations without a credential, and with a key instead of a token. */
const SENT_BY_STATUSES: readonly Principal[] = ['anonymous', 'key IEX', 'key TWO'];

/** Whether a principal reads and writes the same rows as another one of the same scope, or those of another scope of the same kind. */
function isRepetition(principal: Principal, { expected }: MatrixRow): boolean {
  if (REPEATS_A_ROLE.includes(principal)) return true;
  const isOtherStaff = principal === 'manager' || principal === 'warehouse';
  return isOtherStaff && expected[GROUPS[principal]].join() === expected.admins.join();
}

/** Such a principal makes one call of each operation. Those of one operation are spread over its cases. */
function kindsOfRepetition(principal: Principal, { operation, title }: MatrixRow): readonly Kind[] {
  const cases = rows.filter((row) => row.operation === operation && repeats(principal, row));
  const chosen = cases[PRINCIPALS.indexOf(principal) % cases.length];
  if (chosen?.title !== title) return [];
  // The records that it must not reach although it has the role: of the first tenant, or of the sibling.
  return principal.includes('two') || principal === 'key TWO' ? ['other'] : ['sibling'];
}

const repeats = (principal: Principal, row: MatrixRow) =>
  !isRefused(row.expected[GROUPS[principal]]) &&
  CALLERS_OF_COSTLY_CASES[row.title] === undefined &&
  isRepetition(principal, row);

/** The kinds that show the scope of each caller. Staff reach a sibling's records like their own courier's. */
const KINDS_OF_SCOPE: Partial<Record<Principal, readonly Kind[]>> = {
  iex: ['own', 'sibling', 'unknown'],
  admin: ['own', 'other', 'unknown'],
};

function kindsOfCaller(principal: Principal, { title, expected }: MatrixRow): readonly Kind[] {
  const callers = CALLERS_OF_COSTLY_CASES[title] ?? PRINCIPALS;
  const [validated, ...others] = (['iex', 'admin', 'key IEX'] as const).filter(
    (each) => callers.includes(each) && !isRefused(expected[GROUPS[each]]),
  );
  // A case with one caller sends all kinds as that caller.
  if (principal === validated && others.length === 0) return KINDS;
  const kinds = KINDS_OF_SCOPE[principal] ?? ['own', 'other'];
  // Malformed ids are rejected before the caller's scope matters, so one caller sends them.
  return principal === validated ? [...kinds, 'malformed'] : kinds;
}
