import type { JsonBodyOf } from '../../../src/platform/contract/types.js';
import type { Api } from '../fixture/api.js';
import type { DataOf, PendingCall } from '../fixture/pending-call.js';

type Receipt = Partial<JsonBodyOf<'receivePackage'>>;

/** Calls of staff and couriers that most tests of scans make. */
export function makeScanCalls(api: Api) {
  const createPrealert = (number: string, user_code = 'IEX-1001'): PendingCall<'createPrealert'> =>
    api
      .as(user_code.startsWith('HRB') ? 'hrb' : 'iex')
      .createPrealert({ user_code, tracking_number: number, vendor: 'Example' });

  return {
    /** Receives a parcel with ReceivePackage. */
    receive: (number: string, fields: Receipt = {}): PendingCall<'receivePackage'> =>
      api.as('warehouse').receivePackage({ tracking_number: number, weight: 1, ...fields }),
    resolve: async (scan: string, as = 'warehouse'): Promise<DataOf<'resolveScan'>> =>
      (await api.as(as).resolveScan({ scan }).ok()).data,
    /** Announces a number by the courier of the customer. */
    createPrealert,
    /** Announces a number, and returns the id of the pre-alert. */
    announce: async (number: string, userCode?: string): Promise<string> =>
      (await createPrealert(number, userCode).created()).data.prealert_id,
    /** Gives a package another number. */
    renumber: (package_id: string, tracking_number: string): PendingCall<'updatePackage'> =>
      api.as('warehouse').updatePackage({ package_id, tracking_number }),
  };
}
