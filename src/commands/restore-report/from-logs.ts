import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** A request that the lost server has acknowledged, according to its log. */
export type LoggedRequest = {
  courierId: string | undefined;
  keyId: string | undefined;
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
  req?: { method?: string };
  res?: { statusCode?: number };
};

/** Returns the writing requests with a response of 2xx since a time. Lines that are not JSON are skipped. */
export async function readLog(path: string, since: Date): Promise<LoggedRequest[]> {
  const requests: LoggedRequest[] = [];
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = parse(text);
    if (line?.msg !== 'request completed' || (line.time ?? 0) < since.getTime()) continue;
    const { operationId, tenantId, courierId, keyId, req, res, reqId = '', time = 0 } = line;
    const isWrite = req?.method !== 'GET' && req?.method !== 'HEAD';
    if (!operationId || !isWrite || (res?.statusCode ?? 500) >= 300) continue;
    requests.push({ courierId, keyId, tenantId, operationId, requestId: reqId, at: new Date(time) });
  }
  return requests;
}

function parse(text: string): LogLine | undefined {
  try {
    // Each line that the service writes is an object, and only the fields that it documents are read.
    return JSON.parse(text) as LogLine;
  } catch {
    return undefined;
  }
}
