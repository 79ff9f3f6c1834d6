import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { FiguresRow } from '../detail/queries.js';
import type { Figures, Line, ManifestDocument } from './pdf/manifest.js';
import type { HeadRow } from './queries.js';

/** What a document shows of a manifest, from one snapshot. */
export type Cargo = { head: HeadRow; lines: Line[]; figures: FiguresRow[] };

/** Returns what a PDF of the manifest prints. */
export async function toDocument({ head, lines, figures }: Cargo, now: Date): Promise<ManifestDocument> {
  const names = new Map(lines.map((line) => [line.courier_code, line.courier_name]));
  const total = figures.find((row) => row.is_total);
  const couriers = figures.filter((row) => !row.is_total);
  return {
    number: head.manifest_number,
    status: head.status,
    isDraft: head.status === 'draft',
    awb: head.awb_number,
    airline: head.airline,
    flight: head.flight_number,
    flightDate: head.flight_date,
    origin: { name: head.origin, address: head.origin_address },
    notes: head.notes,
    createdAt: minuteOf(head.created_at),
    printedAt: minuteOf(now),
    total: total ? toFigures(total) : { pieces: 0, weightLb: '0', weightKg: '0' },
    couriers: couriers.map((row) => ({ name: nameOf(row, names), ...toFigures(row) })),
    lines: await serialize(lines),
  };
}

const minuteOf = (moment: Date): string => formatDateTime(moment).slice(0, 16);

const toFigures = ({ count, weight_lb, weight_kg }: FiguresRow): Figures => ({
  pieces: count,
  weightLb: weight_lb,
  weightKg: weight_kg,
});

function nameOf({ courier_code: code }: FiguresRow, names: Map<string | null, string | null>): string {
  if (code === null) return 'Unknown courier';
  const name = names.get(code);
  return name ? `${name} (${code})` : code;
}

/** The thread gets no more of a text: three lines of it are printed, which cannot hold so much. */
const MOST_PRINTED = 400;

const shorten = (line: Line): Line => ({
  ...line,
  shipper: line.shipper?.slice(0, MOST_PRINTED) ?? null,
  description: line.description?.slice(0, MOST_PRINTED) ?? null,
});

// About two milliseconds of work, so that the event loop serves other requests in between.
const LINES_PER_TEXT = 1_000;

async function serialize(lines: Line[]): Promise<string[]> {
  const texts: string[] = [];
  for (let start = 0; start < lines.length; start += LINES_PER_TEXT) {
    await pauseWhenDue();
    texts.push(JSON.stringify(lines.slice(start, start + LINES_PER_TEXT).map(shorten)));
  }
  return texts;
}
