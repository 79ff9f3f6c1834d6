import type {
  AttentionItem,
  ManifestSummary,
  PackageStatistics,
} from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { readOpenManifests } from '../parcels/manifest-dialog.js';
import { DAY_MS, utcDay } from '../../../ui/data/utc-days.js';

const WEEK_MS = 7 * DAY_MS;

export type Figures = {
  /** Today and the same day of last week, in UTC. */
  today: string;
  before: string;
  /** The hour of the day that it is now, in UTC. */
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
  const today = utcDay(now);
  const before = utcDay(now - WEEK_MS);
  const hour = new Date(now).getUTCHours();
  const client = api();
  const [statistics, last, attention, manifests] = await Promise.all([
    client.packages.statistics({ from: today, to: today }, { signal }),
    client.packages.statistics({ from: before, to: before }, { signal }),
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
