import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

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
  time?: number;
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

export type Log = {
  path: string;
  /** The time of its first line. */
  from: Date;
  /** The writing requests with a response of 2xx since a time. */
  requests: LoggedRequest[];
};

/** Returns the requests before a time: later ones are of the restored server, and are not lost. */
export const requestsBefore = (logs: Log[], until: Date): LoggedRequest[] =>
  logs.flatMap(({ requests }) => requests).filter(({ at }) => at.getTime() < until.getTime());

/**
 * Reads a log of the service. Lines that are not JSON are skipped.
 *
 * @throws Error if it has no line of the service, so that a file in another form does not look like a time without requests
 */
export async function readLog(path: string, since: Date): Promise<Log> {
  const requests: LoggedRequest[] = [];
  let from: number | undefined;
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = parse(text);
    if (typeof line?.msg !== 'string' || typeof line.time !== 'number') continue;
    from ??= line.time;
    const request = line.time < since.getTime() ? undefined : requestOf(line);
    if (request) requests.push(request);
  }
  if (from === undefined)
    throw new Error(
      `${path} has no line of the service's log. Give the lines as the service wrote them: without compression, and of journald with "journalctl --output cat".`,
    );
  return { path, from: new Date(from), requests };
}

function requestOf(line: LogLine): LoggedRequest | undefined {
  if (line.msg !== 'request completed') return undefined;
  const { operationId, tenantId, courierId, keyId, userId, tokenId, req, res, reqId = '', time = 0 } = line;
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
