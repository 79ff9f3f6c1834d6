import type { PdfWriter } from '../../../../platform/pdf/writer.js';
import type { PackageStatus } from '../../../packages/public.js';

/** What the worker thread prints. Weights are decimals as text. */
export type ManifestDocument = {
  number: string;
  status: string;
  isDraft: boolean;
  awb: string | null;
  airline: string | null;
  flight: string | null;
  /** `YYYY-MM-DD` */
  flightDate: string | null;
  origin: { name: string; address: string[] };
  notes: string | null;
  /** In UTC: `YYYY-MM-DD HH:MM`. */
  createdAt: string;
  printedAt: string;
  total: Figures;
  couriers: (Figures & { name: string })[];
  /** JSON texts of lists of `Line`: copying a text to the thread is faster than copying 100,000 cells. */
  lines: string[];
};

export type Figures = { pieces: number; weightLb: string; weightKg: string };

/** A package of the manifest, with its columns and the names of its courier and carrier. */
export type Line = {
  house_number: string;
  tracking_number: string;
  courier_code: string | null;
  courier_name: string | null;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  weight_lb: string;
  weight_kg: string;
  status: PackageStatus;
  carrier_name: string | null;
  shipper: string | null;
  description: string | null;
};

export type ManifestWriter = PdfWriter<ManifestDocument>;
