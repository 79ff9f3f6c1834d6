import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import type { Api } from '../../../support/fixture/api.js';
import type { DataOf } from '../../../support/fixture/pending-call.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Call } from '../../../support/service/service.js';

export const NDJSON = { 'content-type': 'application/x-ndjson' };
export const PATHS = ['submitPrealert', 'submitPrealertWithoutSuffix'] as const;

export type Results = DataOf<'submitPrealert', 200>['results'];

/** A pre-alert as a courier's system sends it. */
export const prealert = (fields: object = {}) => ({
  UserCode: 'IEX-1001',
  TrackingNumber: newNumber(),
  ...fields,
});

/** A body of lines. Lines that are not text are sent as JSON. */
export const toLines = (lines: unknown[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

/** Results as text, with the number of each line and its status. */
export const shown = (results: Results) => results.map(({ line, status }) => `${line} ${status}`);

/** Calls that submit lines of pre-alerts with the key of IEX. */
export function makeBatchCalls(api: Api) {
  function send(
    lines: unknown[] | string | Buffer,
    { headers, ...call }: Call = {},
    path: (typeof PATHS)[number] = PATHS[0],
  ) {
    const body = Array.isArray(lines) ? toLines(lines) : lines;
    return api
      .with({ key: DEMO.apiKeys.IEX, ...call })
      .call(path, unchecked(body), { headers: { ...NDJSON, ...headers } });
  }
  return {
    send,
    resultsOf: async (...sent: Parameters<typeof send>): Promise<Results> =>
      (await send(...sent).ok()).data.results,
  };
}
