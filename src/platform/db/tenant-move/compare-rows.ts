import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../connections/roles.js';
import { readRow } from '../connections/rows.js';
import type { Link } from './replication.js';

export type Comparison = { tables: number; rows: number; seconds: number; differences: string[] };

type Digest = { rows: string; hash: string };

export type RunningComparison = {
  /** Resolves when both sides see the same moment. From then on, both cells may change. */
  started: Promise<void>;
  ended: Promise<Comparison>;
};

// The text of a row must not depend on the settings of a server.
const SETTINGS = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'iso_8601';
  set local extra_float_digits = 1; set local bytea_output = 'hex'; set local statement_timeout = 0`;

/**
 * Compares the number and a hash of the tenant's rows of every table in both cells, each in one snapshot. Call it when the
 * tenant is closed and everything has arrived.
 */
export function compareRows({ tenantId, publisher, subscriber }: Link, tables: string[]): RunningComparison {
  const startMs = performance.now();
  const sides = [publisher, subscriber].map(({ url }) => digestAll(url, tables, tenantId));
  const ended = Promise.all(sides.map((side) => side.ended)).then(([one = [], other = []]) => ({
    tables: tables.length,
    rows: one.reduce((sum, { rows }) => sum + Number(rows), 0),
    seconds: (performance.now() - startMs) / 1000,
    differences: tables.flatMap((table, index) => describe(table, one[index], other[index])),
  }));
  // Handled by whoever waits for `ended`, perhaps later.
  ended.catch(() => undefined);
  return { started: Promise.all(sides.map((side) => side.started)).then(() => undefined), ended };
}

function describe(table: string, one: Digest | undefined, other: Digest | undefined): string[] {
  if (one && other && one.rows === other.rows && one.hash === other.hash) return [];
  return [`${table} (${one?.rows ?? '?'} and ${other?.rows ?? '?'} rows)`];
}

function digestAll(
  url: string,
  tables: string[],
  tenantId: string,
): { started: Promise<void>; ended: Promise<Digest[]> } {
  const ended: { resolve?: () => void; reject?: (error: unknown) => void } = {};
  const started = new Promise<void>((resolve, reject) => Object.assign(ended, { resolve, reject }));
  const digests = withClient(url, async (client) => {
    await client.query(`begin isolation level repeatable read, read only; ${SETTINGS}`);
    // The first query takes the snapshot.
    await client.query('select 1');
    ended.resolve?.();
    const found: Digest[] = [];
    for (const table of tables) found.push(await digest(client, table, tenantId));
    return found;
  });
  digests.catch((error: unknown) => ended.reject?.(error));
  return { started, ended: digests };
}

const digest = (client: pg.ClientBase, table: string, tenantId: string): Promise<Digest> =>
  readRow(
    client,
    `select count(*)::text as rows, coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint), 0)::text as hash
     from ${table} t where t.tenant_id = $1`,
    [tenantId],
  );

/** Returns the comparison if it ends within the time, otherwise undefined. */
export const within = (ended: Promise<Comparison>, limitMs: number): Promise<Comparison | undefined> =>
  Promise.race([ended, sleep(limitMs, undefined, { ref: false })]);
