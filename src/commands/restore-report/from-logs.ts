import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

/** A request that the lost server has acknowledged, according to its log. */
export type LoggedRequest = {
  courierId: string | undefined;
  keyId: string | undefined;
  /** Whether a user or a service token sent it. Without a courier, it is of the staff. */
  isOfAccount: boolean;
  tenantId: string | undefined;
  operationId: string;
  requestId: string;
  at: Date;
};

type LogLine = {
  level?: number;
  time?: number;
  pid?: number;
  hostname?: string;
  msg?: string;
  reqId?: string;
  operationId?: string;
  tenantId?: string;
  courierId?: string;
  keyId?: string;
  userId?: string;
  tokenId?: string;
  req?: { method?: string };
  res?: { statusCode?: number };
};

type TimedLine = LogLine & { time: number };

/** A host whose lines a log has. A container or pod is a host of its own. */
export type LoggedHost = {
  name: string;
  from: Date;
  to: Date;
  /** Its processes before the end of the comparison. */
  pids: Set<number>;
};

export type Log = {
  path: string;
  /** The times of its first and last line. */
  from: Date;
  to: Date;
  /** The longest time between two lines within the comparison. */
  silence: { from: Date; to: Date } | undefined;
  /** The number of requests that ended, with level info. */
  completed: number;
  hosts: LoggedHost[];
  /** Processes whose lines about requests, within the comparison, all have a higher level than info. */
  withoutInfo: string[];
  /** Lines that look like lines of the service and are not JSON. Each may be an acknowledged request. */
  unreadable: number;
  /** The writing requests with a response of 2xx since the beginning of the comparison. */
  requests: LoggedRequest[];
  /** The ids of all requests since a little earlier. */
  requestIds: Set<string>;
};

/** The times that a report compares. */
export type Span = {
  from: Date;
  until: Date;
  /** From this time on the ids of requests are collected, for the comparison with the audit log. */
  idsFrom: Date;
};

const INFO = 30;

/** Returns each request before a time once: later ones are of the restored server, and are not lost. */
export const requestsBefore = (logs: Log[], until: Date): LoggedRequest[] => [
  ...new Map(
    logs
      .flatMap(({ requests }) => requests)
      .filter(({ at }) => at.getTime() < until.getTime())
      // A line without an id is a request of its own.
      .map((request, index) => [request.requestId || index, request]),
  ).values(),
];

/** @throws Error if a file has no line of the service, so that a file in another form does not look like a time without requests */
export async function assertIsLog(path: string): Promise<void> {
  const input = createReadStream(path);
  await once(input, 'open');
  try {
    for await (const text of createInterface({ input })) if (toTimedLine(parse(text))) return;
  } finally {
    input.destroy();
  }
  throw new Error(
    `${path} has no line of the service's log. Give the lines as the service wrote them: without compression, and of journald with "journalctl --output cat".`,
  );
}

/**
 * Reads a log of the service that `assertIsLog` has accepted. Lines that are not of the service are skipped.
 *
 * @param span the times that the report compares
 */
export async function readLog(path: string, span: Span): Promise<Log> {
  const found: Found = {
    firstMs: Infinity,
    lastMs: -Infinity,
    silence: undefined,
    completed: 0,
    hosts: new Map(),
    ofRequests: new Map(),
    unreadable: 0,
    requests: [],
    requestIds: new Set(),
  };
  let previousMs: number | undefined;
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const parsed = parse(text);
    const line = toTimedLine(parsed);
    if (line) {
      const isBefore = line.time < span.until.getTime();
      const isWithin = isBefore && line.time >= span.from.getTime();
      if (previousMs !== undefined) noteSilence(found, span, previousMs, line.time);
      previousMs = line.time;
      addLine(found, line, { isBefore, isWithin });
      if (line.reqId && line.time >= span.idsFrom.getTime()) found.requestIds.add(line.reqId);
      const request = line.time >= span.from.getTime() ? requestOf(line) : undefined;
      if (request) found.requests.push(request);
    } else if (parsed === undefined && /^\{|"msg":|"reqId":/.test(text)) found.unreadable += 1;
  }
  const { firstMs, lastMs, hosts, ofRequests, ...rest } = found;
  return {
    ...rest,
    path,
    from: new Date(firstMs),
    to: new Date(lastMs),
    hosts: [...hosts.values()],
    withoutInfo: [...ofRequests].flatMap(([process, hasInfo]) => (hasInfo ? [] : [process])),
  };
}

type Found = Omit<Log, 'path' | 'from' | 'to' | 'hosts' | 'withoutInfo'> & {
  firstMs: number;
  lastMs: number;
  hosts: Map<string, LoggedHost>;
  /** By process with lines about requests: whether one of them has level info. */
  ofRequests: Map<string, boolean>;
};

function addLine(
  found: Found,
  { level = 0, time, pid = 0, hostname = '(no hostname)', msg, reqId }: TimedLine,
  { isBefore, isWithin }: { isBefore: boolean; isWithin: boolean },
): void {
  found.firstMs = Math.min(found.firstMs, time);
  found.lastMs = Math.max(found.lastMs, time);
  if (msg === 'request completed' && level === INFO) found.completed += 1;
  const host = found.hosts.get(hostname) ?? {
    name: hostname,
    from: new Date(time),
    to: new Date(time),
    pids: new Set<number>(),
  };
  host.from = new Date(Math.min(host.from.getTime(), time));
  host.to = new Date(Math.max(host.to.getTime(), time));
  if (isBefore) host.pids.add(pid);
  found.hosts.set(hostname, host);
  const process = `${hostname} pid ${pid}`;
  if (isWithin && reqId)
    found.ofRequests.set(process, found.ofRequests.get(process) === true || level === INFO);
}

function noteSilence(found: Found, { from, until }: Span, previousMs: number, timeMs: number): void {
  const [startMs, endMs] = [Math.max(previousMs, from.getTime()), Math.min(timeMs, until.getTime())];
  const longestMs = found.silence ? found.silence.to.getTime() - found.silence.from.getTime() : 0;
  if (endMs - startMs > longestMs) found.silence = { from: new Date(startMs), to: new Date(endMs) };
}

const toTimedLine = (line: LogLine | null | undefined): TimedLine | undefined =>
  typeof line?.msg === 'string' && typeof line.time === 'number' ? { ...line, time: line.time } : undefined;

function requestOf(line: TimedLine): LoggedRequest | undefined {
  if (line.msg !== 'request completed') return undefined;
  const { operationId, tenantId, courierId, keyId, userId, tokenId, req, res, reqId = '', time } = line;
  const isWrite = req?.method !== 'GET' && req?.method !== 'HEAD';
  if (!operationId || !isWrite || (res?.statusCode ?? 500) >= 300) return undefined;
  const isOfAccount = userId !== undefined || tokenId !== undefined;
  return { courierId, keyId, isOfAccount, tenantId, operationId, requestId: reqId, at: new Date(time) };
}

function parse(text: string): LogLine | null | undefined {
  try {
    // Each line that the service writes is an object, and only the fields that it documents are read.
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
}
