import type { components } from '../../../../generated/contract.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { FiguresRow, InfoRow, PackageRow } from './queries.js';

type Schemas = components['schemas'];

/** The key of the figures of packages without a courier. */
const UNKNOWN_COURIER = 'UNKNOWN';

type Cargo = { packages: PackageRow[]; figures: FiguresRow[] };

export async function toDetail(
  info: InfoRow,
  cargo: Cargo,
  isForCourier: boolean,
): Promise<Schemas['ManifestDetail']> {
  return {
    info: toInfo(info),
    packages: await jsonRows(cargo.packages, (row) => toPackage(row, isForCourier && row.user_code === null)),
    stats: toStats(cargo.figures),
  };
}

export function toInfo({ id, created_at, ...row }: InfoRow): Schemas['ManifestInfo'] {
  return { manifest_id: id, ...row, created_at: formatDateTime(created_at) };
}

function toPackage(row: PackageRow, isMasked: boolean): Schemas['ManifestPackage'] {
  const { id, tracking_number, weight_lb, ...shown } = row;
  return {
    package_id: id,
    tracking_number: isMasked ? maskTrackingNumber(tracking_number) : tracking_number,
    weight: Number(weight_lb),
    ...shown,
  };
}

function toStats(figures: FiguresRow[]): Schemas['ManifestStats'] {
  const total = figures.find((row) => row.is_total);
  const couriers = figures.filter((row) => !row.is_total);
  return {
    total_count: total?.count ?? 0,
    total_weight_lb: Number(total?.weight_lb ?? 0),
    total_weight_kg: Number(total?.weight_kg ?? 0),
    by_courier: Object.fromEntries(
      couriers.map((row) => [row.courier_code ?? UNKNOWN_COURIER, toFigures(row)]),
    ),
  };
}

function toFigures({ count, weight_lb, house_color }: FiguresRow): Schemas['ManifestCourierFigures'] {
  return { count, weight: Number(weight_lb), house_color };
}
