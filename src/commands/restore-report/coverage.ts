import { hasTable, readRows } from '../../platform/db/connections/rows.js';
import { withClient } from '../../platform/db/connections/roles.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Log, LoggedHost, Span } from './from-logs.js';
import type { AuditedRequest } from './queries.js';

/** A server that a database has recorded. */
export type KnownServer = { host: string; pid: number };

/** What the databases know of the time that the logs should cover. */
export type Known = {
  /** The last request that an audit entry of the restored or a lost database names. */
  last: AuditedRequest | undefined;
  /** Requests with an audit entry. Each must be in a log. */
  requests: AuditedRequest[];
  servers: KnownServer[];
};

export type Given = {
  since: Date;
  span: Span;
  /** The number of hosts on which servers ran. Undefined if the operator has not said it. */
  servers: number | undefined;
};

/** A process records itself every 15 seconds. */
const HEARTBEAT_MS = 60_000;

/** The clocks of the database and of the hosts may differ. */
const CLOCKS_MS = 1_000;

/** Returns the servers of a database that ran after a time, and had started before another. Those of development are not recorded. */
export const knownServers = (url: string, since: Date, until: Date): Promise<KnownServer[]> =>
  withClient(url, async (client) => {
    if (!(await hasTable(client, 'installation.processes'))) return [];
    return readRows<KnownServer>(
      client,
      `select split_part(name, ' ', 2) as host, split_part(name, ' ', 4)::int as pid from installation.processes
       where name !~ '^worker ' and name ~ '^\\S+ \\S+ pid [0-9]+$' and started_at < $1 and seen_at >= $2`,
      [until, new Date(since.getTime() - HEARTBEAT_MS)],
    );
  });

/** Returns when a request began, by the clock of its server: its id is a UUIDv7. */
export const timeOfId = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** Returns the hosts whose servers the logs show in the compared time. One that began later belongs to the restored server. */
export function hostsOf(
  logs: Log[],
  { since, span: { until } }: Pick<Given, 'since' | 'span'>,
): LoggedHost[] {
  const hosts = new Map<string, LoggedHost>();
  for (const host of logs.flatMap((log) => log.hosts)) {
    const { from, to, pids } = hosts.get(host.name) ?? host;
    hosts.set(host.name, {
      name: host.name,
      from: from < host.from ? from : host.from,
      to: to > host.to ? to : host.to,
      pids: new Set([...pids, ...host.pids]),
    });
  }
  return [...hosts.values()].filter(({ from, to }) => from < until && to >= since);
}

/** Returns one line per log, and one about the servers that they show. */
export function describeLogs(logs: Log[], given: Given): string[] {
  const hosts = hostsOf(logs, given);
  return [
    ...logs.map(
      ({ path, from, to, completed, silence }) =>
        `${path}: from ${from.toISOString()} to ${to.toISOString()}, ${countOf(completed, 'request')}.` +
        (silence
          ? ` The longest time without a line: ${silence.from.toISOString()} to ${silence.to.toISOString()}.`
          : ''),
    ),
    `The logs show ${countOf(hosts.length, 'host')} with servers: ${namesOf(hosts)}.`,
  ];
}

/**
 * Returns why the logs cannot show that nothing is missing, one sentence or two per reason. Empty if they can.
 *
 * @param compared the number of acknowledged requests in the logs
 */
export const findGaps = (logs: Log[], known: Known, given: Given, compared: number): string[] => [
  ...logs.flatMap((log) => gapsOf(log, known, given)),
  ...gapsOfServers(logs, known, given),
  ...gapsOfRequests(logs, known, given),
  ...(compared === 0
    ? ['No acknowledged request was compared. Give an earlier --since, and logs that begin before it.']
    : []),
];

function gapsOf(log: Log, { last }: Known, { since }: Given): string[] {
  const { path, from, to, completed, withoutInfo, unreadable } = log;
  const gaps: string[] = [];
  if (from > since)
    gaps.push(
      `${path} begins at ${from.toISOString()}, after --since. Put the parts of the log of a server into one file, the oldest first.`,
    );
  if (to < since) gaps.push(`${path} ends at ${to.toISOString()}, before --since.`);
  if (last && isBefore(to, last))
    gaps.push(
      `${path} ends at ${to.toISOString()}, before the last request that the databases have, of ${last.at.toISOString()}. Give the log up to now.`,
    );
  if (completed === 0) gaps.push(`${path} has no request of level info. LOG_LEVEL must be info or debug.`);
  else if (withoutInfo.length > 0)
    gaps.push(
      `${path} has no request of level info of ${withoutInfo.join(', ')}. LOG_LEVEL must be info or debug.`,
    );
  if (unreadable > 0)
    gaps.push(
      `${path} has ${countOf(unreadable, 'line')} of the service that cannot be read. Each may be an acknowledged request.`,
    );
  return gaps;
}

/** Says what the times of a file with several hosts do not show. */
function gapsOfHost(
  { name, from, to }: LoggedHost,
  logs: Log[],
  last: AuditedRequest | undefined,
  since: Date,
): string[] {
  const gaps: string[] = [];
  if (from > since && logs.every((log) => log.from.getTime() !== from.getTime()))
    gaps.push(`The lines of ${name} begin at ${from.toISOString()}, after --since.`);
  if (last && isBefore(to, last) && logs.every((log) => log.to.getTime() !== to.getTime()))
    gaps.push(
      `The lines of ${name} end at ${to.toISOString()}, before the last request that the databases have, of ${last.at.toISOString()}.`,
    );
  return gaps;
}

const isBefore = (to: Date, last: AuditedRequest): boolean => to.getTime() < timeOfId(last.id) - CLOCKS_MS;

function gapsOfServers(logs: Log[], known: Known, given: Given): string[] {
  const hosts = hostsOf(logs, given);
  const gaps = hosts.flatMap((host) => gapsOfHost(host, logs, known.last, given.since));
  for (const [host, pids] of pidsByHost(known.servers)) {
    const logged = hosts.find(({ name }) => name === host);
    if (!logged)
      gaps.push(`The database knows a server on ${host} in that time, and no log has a line of it.`);
    else if (pids.size > logged.pids.size)
      gaps.push(
        `The database knows ${pids.size} servers on ${host} in that time, and the logs have lines of ${countOf(logged.pids.size, 'process', 'processes')} there.`,
      );
  }
  if (given.servers === undefined)
    gaps.push(
      'The report cannot know whether there were more servers than the logs show. Give the number of hosts, containers or pods that ran servers in that time with --servers.',
    );
  else if (given.servers !== hosts.length)
    gaps.push(
      `--servers says ${given.servers}, and the logs show ${hosts.length}: ${namesOf(hosts)}. ` +
        (given.servers > hosts.length ? 'Give the logs of the others.' : 'Correct --servers.'),
    );
  return gaps;
}

function gapsOfRequests(logs: Log[], known: Known, given: Given): string[] {
  const [example, ...others] = absentRequests(logs, known, given).filter(
    ({ id }) => !tellsServers(known) || timeOfId(id) >= given.span.from.getTime(),
  );
  return example
    ? [
        `${countOf(others.length + 1, 'request')} with an audit entry of that time, for example ${example.id} at ${example.at.toISOString()}, ${others.length === 0 ? 'is' : 'are'} in no log. The log of a server or a part of one is not given, or a process was killed before it had written its last lines.`,
      ]
    : [];
}

/** Says how many earlier requests are in no log although that proves nothing about the compared time. */
export function describeEarlier(logs: Log[], known: Known, given: Given): string[] {
  if (!tellsServers(known)) return [];
  const { from } = given.span;
  const earlier = absentRequests(logs, known, given).filter(({ id }) => timeOfId(id) < from.getTime());
  return earlier.length === 0
    ? []
    : [
        `${countOf(earlier.length, 'request')} with an audit entry of before ${from.toISOString()} ${earlier.length === 1 ? 'is' : 'are'} in no log, for example of a server that had ended. The database has recorded which servers ran after that.`,
      ];
}

/**
 * Whether a database has recorded servers of the compared time: each server does, every 15 seconds. If not, a request of before that time
 * which is in no log is what shows that a server is missing.
 */
const tellsServers = ({ servers }: Known): boolean => servers.length > 0;

/** Returns the requests with an audit entry, also of a little before the compared time, that are in no log. */
function absentRequests(logs: Log[], { requests }: Known, { span }: Given): AuditedRequest[] {
  const begins = logs.map(({ from }) => from.getTime()).filter((ms) => ms <= span.from.getTime());
  const fromMs = Math.max(span.idsFrom.getTime(), ...begins);
  const logged = new Set(logs.flatMap(({ requestIds }) => [...requestIds]));
  return requests.filter(
    ({ id }) => timeOfId(id) >= fromMs + CLOCKS_MS && timeOfId(id) < span.until.getTime() && !logged.has(id),
  );
}

function pidsByHost(servers: KnownServer[]): Map<string, Set<number>> {
  const byHost = new Map<string, Set<number>>();
  for (const { host, pid } of servers) byHost.set(host, (byHost.get(host) ?? new Set<number>()).add(pid));
  return byHost;
}

const namesOf = (hosts: LoggedHost[]): string => hosts.map(({ name }) => name).join(', ') || 'none';
