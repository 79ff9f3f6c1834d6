import type {
  AttentionItem,
  ManifestSummary,
  PackageStatistics,
} from '../../../../../sdk/typescript/src/index.js';
import { settings } from '../../../device/settings.js';
import { api } from '../../../session/session.js';
import { readOpenManifests } from '../parcels/manifest-dialog.js';
import { dayAfter, localDay, localHour } from '../../../ui/data/days.js';

export type Figures = {
  /** Today in the warehouse, and the same day of last week. */
  today: string;
  before: string;
  /** The hour of the day that it is now in the warehouse. */
  hour: number;
  statistics: PackageStatistics;
  /** Parcels per hour of the same day of last week. */
  hoursBefore: number[];
  /** Received on that day until the end of the same hour. */
  soFarBefore: number;
  /** What waits for somebody. */
  attention: AttentionItem[];
  manifests: ManifestSummary[];
};

/** Reads the figures of Home. The service counts. */
export async function readFigures(signal: AbortSignal, now = Date.now()): Promise<Figures> {
  const { timeZone } = settings.value;
  const today = localDay(now, timeZone);
  const before = dayAfter(today, -7);
  const hour = localHour(now, timeZone);
  const zone = { day_zone: 'tenant' } as const;
  const client = api();
  const [statistics, last, attention, manifests] = await Promise.all([
    client.packages.statistics({ from: today, to: today, ...zone }, { signal }),
    client.packages.statistics({ from: before, to: before, ...zone }, { signal }),
    client.packages.attention({ signal }),
    readOpenManifests(signal),
  ]);
  const hoursBefore = last.data.hours.map((each) => each.count);
  return {
    today,
    before,
    hour,
    statistics: statistics.data,
    hoursBefore,
    soFarBefore: hoursBefore.slice(0, hour + 1).reduce((sum, each) => sum + each, 0),
    attention: attention.data.items,
    manifests,
  };
}
