import type { FastifyRequest } from 'fastify';
import { BOUND_KINDS } from '../../../../generated/bounds.js';

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

/**
 * Returns the texts that a request named as tracking numbers, and the ids of packages and pre-alerts. It may be one that was refused, so fields
 * that the operation does not have are looked at, too.
 * @param kind how much the request may write, by the table of bounds
 */
export function namedParcels({ query, body }: Parts, kind: BoundKind | undefined): string[] {
  const named: string[] = [];
  const { items = MAX_OF_RECORD } = kind ? (BOUND_KINDS[kind] as { items?: number }) : {};
  collect(query, named);
  if (Array.isArray(body)) collectAll(body, named);
  else if (isObject(body)) {
    collect(body, named);
    // Lists of records, and the lines of a body that has one record per line.
    for (const value of Object.values(body)) if (Array.isArray(value)) collectAll(value, named);
  }
  return named.slice(0, items);
}

function collectAll(items: unknown[], named: string[]): void {
  for (const item of items) {
    if (named.length >= MAX_NAMED) return;
    // An element of a list that is validated one by one has the record in `value`, or what was sent instead of it.
    if (isObject(item)) collect(isObject(item['value']) ? item['value'] : (item['sent'] ?? item), named);
  }
}

function collect(from: unknown, named: string[]): void {
  if (!isObject(from)) return;
  for (const name of NUMBER_FIELDS) add(from[name], named);
  for (const name of ID_FIELDS) add(from[name], named);
  for (const name of LIST_FIELDS) {
    const list = from[name];
    if (Array.isArray(list)) for (const each of list) add(each, named);
  }
}

function add(value: unknown, named: string[]): void {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return;
  if (named.length < MAX_NAMED) named.push(value);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
