import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

/** Returns functions that read the log after what this process has recorded was written. */
export function makeLogReader({ api, service }: Pick<Fixture, 'api' | 'service'>) {
  const list = async (as: string, query: Record<string, string | number> = {}) => {
    // The server sees the end of a response a moment after its client does.
    await sleep(20);
    await service().app.callLog.flush();
    return api.as(as).listApiCalls(unchecked(query)).ok();
  };
  return {
    list,
    /** The call with this request id, as the user sees it. Undefined if the log does not have it. */
    async find(as: string, { requestId }: { requestId: string | null }) {
      const { data } = await list(as, { request_id: requestId ?? '' });
      return data[0];
    },
  };
}
