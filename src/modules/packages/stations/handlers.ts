import type { Handlers } from '../../../../generated/handlers.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { listStations } from './list-stations.js';
import type { StationRow } from './queries.js';

export function stationListHandlers() {
  return {
    async listStations({ ctx, query }) {
      const { rows, total } = await listStations(ctx, query);
      return pageReply(query, total, 'station', rows.map(viewStation));
    },
  } satisfies Pick<Handlers, 'listStations'>;
}

const viewStation = ({
  station,
  lastScanAt,
  lastScanBy,
  bridgeSeenAt,
  hasBridge,
  waitingLabels,
  failedLabels,
}: StationRow): DataOf<'listStations'>[number] =>
  recordOf({ station, lastScanAt, lastScanBy, bridgeSeenAt, hasBridge, waitingLabels, failedLabels });
