import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import type { Print } from '../rig/database.js';

/** Settings of a server whose statements can be listed. */
export const STATEMENT_SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.track_planning': 'on',
};

const MAX_LINES = 40;
const MAX_TEXT = 110;

/** The extension is in another database, because the service refuses one that its migrations did not make. */
const inPostgres = (ownerUrl: string): string =>
  Object.assign(new URL(ownerUrl), { pathname: '/postgres' }).href;

export const resetStatements = (ownerUrl: string): Promise<void> =>
  withClient(inPostgres(ownerUrl), async (client) => {
    await client.query(
      'create extension if not exists pg_stat_statements; select pg_stat_statements_reset()',
    );
  });

/** Prints the statements since the last reset that took the most time, those of triggers and policies' functions included. */
export const printStatements = (ownerUrl: string, print: Print): Promise<void> =>
  withClient(inPostgres(ownerUrl), async (client) => {
    const { rows } = await client.query<Record<string, string>>(
      `select calls, (total_exec_time + total_plan_time)::numeric(12, 1) as ms, mean_exec_time::numeric(12, 4) as run,
              (total_plan_time / nullif(calls, 0))::numeric(12, 4) as plan, toplevel as top,
              regexp_replace(query, '\\s+', ' ', 'g') as text
       from pg_stat_statements s join pg_database d on d.oid = s.dbid
       where d.datname = $1 order by total_exec_time + total_plan_time desc limit $2`,
      [new URL(ownerUrl).pathname.slice(1), MAX_LINES],
    );
    print(
      'PostgreSQL: total ms, calls, ms of one call, planning ms of one call, statement (+ inside another one)',
    );
    for (const { ms, calls, run, plan, top, text } of rows)
      print(`${ms}  ${calls}  ${run}  ${plan}  ${top ? '' : '+ '}${text?.slice(0, MAX_TEXT)}`);
  });

/** A profile as V8 writes it: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
type Profile = {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
};
type Frame = { functionName: string; url: string; lineNumber: number };

const IDLE = new Set(['(idle)', '(root)']);

/** Prints where the service spent its time: by package or folder, by function, and by function with all that it calls. */
export function printProfile(folder: string, print: Print): void {
  const [name] = readdirSync(folder).filter((each) => each.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error(`The service wrote no profile to ${folder}.`);
  const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const self = new Map<number, number>();
  profile.samples.forEach((id, n) =>
    self.set(id, (self.get(id) ?? 0) + (profile.timeDeltas[n] ?? 0) / 1_000),
  );

  const places = new Map<string, number>();
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (sums: Map<string, number>, key: string, ms: number) =>
    sums.set(key, (sums.get(key) ?? 0) + ms);
  let total = 0;
  for (const [id, ms] of self) {
    const frame = nodes.get(id)?.callFrame;
    if (!frame || IDLE.has(frame.functionName)) continue;
    total += ms;
    add(places, placeOf(frame), ms);
    add(own, titleOf(frame), ms);
    // A function that calls itself counts once.
    const callers = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const caller = nodes.get(at)?.callFrame;
      if (caller?.url.includes('/dist/')) callers.add(titleOf(caller));
    }
    for (const caller of callers) add(whole, caller, ms);
  }
  const list = (title: string, sums: Map<string, number>) => {
    print(title);
    for (const [key, ms] of [...sums].toSorted(([, a], [, b]) => b - a).slice(0, MAX_LINES))
      print(`${((100 * ms) / total).toFixed(1).padStart(5)} %  ${key}`);
  };
  list(`Service: ${total.toFixed(0)} ms, by package or folder`, places);
  list('Service: by function, without what it calls', own);
  list('Service: by function of ours, with what it calls', whole);
  print(`Profile for a flame graph: ${join(folder, name)}`);
}

function placeOf({ functionName, url }: Frame): string {
  const [, inPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  const [, ours] = /\/dist\/((?:[^/]+\/){1,4})/.exec(url) ?? [];
  return (
    inPackage ?? ours ?? (url === '' ? functionName || '(native)' : url.split('/').slice(0, 2).join('/'))
  );
}

function titleOf({ functionName, url, lineNumber }: Frame): string {
  const path = url.replace(/^.*\/(dist|node_modules)\//, '');
  return `${functionName || '(anonymous)'}${path === '' ? '' : ` ${path}:${lineNumber + 1}`}`;
}
