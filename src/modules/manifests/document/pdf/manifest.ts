import type { PdfWriter } from '../../../../platform/pdf/writer.js';
import type { LineRow } from '../queries.js';

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

export type Line = LineRow;

export type ManifestWriter = PdfWriter<ManifestDocument>;
