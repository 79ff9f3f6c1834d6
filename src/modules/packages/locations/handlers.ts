import type { Handlers } from '../../../../generated/handlers.js';
import { pageMeta } from '../../../platform/contract/page-reply.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { countOf } from '../../../platform/values/count-of.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { listLocations, type LocationRow } from './list-locations.js';

export function locationHandlers() {
  return {
    async listLocations({ ctx, query }) {
      const { rows, totals } = await listLocations(ctx, query);
      return {
        ...reply(`${countOf(totals.total, 'place')} found.`, rows.map(viewLocation)),
        meta: {
          ...pageMeta(query, totals.total),
          total_packages: totals.totalPackages,
          total_weight_lb: Number(totals.totalWeightLb),
          without_location: totals.withoutLocation,
        },
      };
    },
  } satisfies Pick<Handlers, 'listLocations'>;
}

const viewLocation = (row: LocationRow): DataOf<'listLocations'>[number] => ({
  location: row.location,
  warehouse_id: row.warehouseId,
  warehouse_name: row.warehouseName,
  packages: row.packages,
  weight_lb: Number(row.weightLb),
  oldest_received_at: formatDateTime(row.oldestReceivedAt),
});
