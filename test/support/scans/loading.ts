import type { JsonBodyOf } from '../../../src/platform/contract/types.js';
import type { Api } from '../fixture/api.js';
import type { Success } from '../fixture/pending-call.js';
import { deviceScan, newScanNumber, sendScan, sendScans, type ScanResult } from './device-scans.js';

type LoadingQuery = {
  list?: 'expected' | 'loaded' | 'missing' | 'extra' | 'history';
  limit?: number;
  page?: number;
};

/** Parcels, and scans that load them for a manifest. */
export function makeLoading(api: Api) {
  return {
    /** Receives a parcel, by default of a customer of IEX. */
    async received(fields: Partial<JsonBodyOf<'receivePackage'>> = { user_code: 'IEX-1001' }) {
      const number = newScanNumber('GATE');
      const body = { tracking_number: number, weight: 1, ...fields };
      const { data } = await api.as('warehouse').receivePackage(body).created();
      return { id: data.package_id, number };
    },
    load: async (manifest_id: string, ...numbers: string[]): Promise<ScanResult[]> =>
      (
        await sendScans(
          api,
          numbers.map((number) => deviceScan('load', number, 5, { manifest_id })),
        )
      ).results,
    unload: (manifest_id: string, number: string): Promise<ScanResult> =>
      sendScan(api, deviceScan('unload', number, 1, { manifest_id })),
    /** What GetManifestLoading returns to staff. */
    loadingOf: (manifest_id: string, query: LoadingQuery = {}): Promise<Success<'getManifestLoading', 200>> =>
      api
        .as('warehouse')
        .getManifestLoading({ manifest_id, ...query })
        .ok(),
  };
}
