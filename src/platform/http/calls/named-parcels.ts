import type { FastifyRequest } from 'fastify';
import { BOUND_KINDS } from '../../../../generated/bounds.js';
import { UUID } from '../../contract/keywords.js';

type BoundKind = keyof typeof BOUND_KINDS;

/** A call is found by so many parcels: the lines of the largest batch, and a few of an operation for one record. */
const MAX_NAMED = 1_000;
const MAX_OF_RECORD = 10;
/** A longer text is the whole content of a barcode, or no number. */
const MAX_LENGTH = 100;

const NUMBER_FIELDS = ['tracking_number', 'TrackingNumber', 'scan'] as const;
const ID_FIELDS = ['package_id', 'prealert_id'] as const;
const LIST_FIELDS = ['package_ids'] as const;

type Parts = Pick<FastifyRequest, 'query' | 'body'>;

/** What a request may be found by: the kind of its bounds, and whether it was refused. */
type Known = { kind: BoundKind | undefined; isRefused: boolean };

/**
 * Returns the texts that a request named as tracking numbers, and the ids of packages and pre-alerts, each once. It may be one that was
 * refused, so fields that the operation does not have are looked at, too. Reading a text costs time after the response, outside of all
 * limits: of a refused request few are read, and of those that are not ASCII, which may become much longer.
 */
export function namedParcels({ query, body }: Parts, { kind, isRefused }: Known): string[] {
  const { items = MAX_OF_RECORD } = kind ? (BOUND_KINDS[kind] as { items?: number }) : {};
  const most = Math.min(items, isRefused ? MAX_OF_RECORD : MAX_NAMED);
  const named: Named = { texts: new Set(), most, foreign: 0 };
  collect(query, named);
  if (Array.isArray(body)) collectAll(body, named);
  else if (isObject(body)) {
    collect(body, named);
    // Lists of records, and the lines of a body that has one record per line.
    for (const value of Object.values(body)) if (Array.isArray(value)) collectAll(value, named);
  }
  return [...named.texts];
}

type Named = { texts: Set<string>; most: number; foreign: number };

function collectAll(items: unknown[], named: Named): void {
  // More than are kept, because a number may be repeated.
  for (const item of items.slice(0, MAX_NAMED)) {
    if (named.texts.size >= named.most) return;
    // An element of a list that is validated one by one has the record in `value`, or what was sent instead of it.
    if (isObject(item)) collect(isObject(item['value']) ? item['value'] : (item['sent'] ?? item), named);
  }
}

function collect(from: unknown, named: Named): void {
  if (!isObject(from)) return;
  for (const name of NUMBER_FIELDS) add(from[name], named);
  for (const name of ID_FIELDS) addId(from[name], named);
  for (const name of LIST_FIELDS) {
    const list = from[name];
    if (Array.isArray(list)) for (const each of list.slice(0, MAX_NAMED)) addId(each, named);
  }
}

function addId(value: unknown, named: Named): void {
  if (typeof value === 'string' && UUID.test(value)) add(value, named);
}

function add(value: unknown, named: Named): void {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return;
  if (named.texts.size >= named.most) return;
  const isForeign = !isAscii(value);
  if (isForeign && named.foreign >= MAX_OF_RECORD) return;
  if (isForeign) named.foreign += 1;
  named.texts.add(value);
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
