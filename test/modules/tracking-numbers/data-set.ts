import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/config/project-root.js';

type CarrierFile = {
  courier_code: string;
  tracking_numbers: {
    id?: string;
    name: string;
    test_numbers: { valid: string[]; invalid: string[] };
  }[];
};

/** A published number, and whether it has the format. */
export type Vector = { carrier: string; format: string; number: string; isValid: boolean };

const FOLDER = join(projectRoot, 'data', 'tracking-numbers', 'couriers');

/** The formats without an id, by the names in the addresses of the data set's site. */
const NAMES: Record<string, string> = {
  'LaserShip 1LS7 (18)': 'lasership-1ls7-18',
  'Old Dominion': 'old-dominion',
  'Old Dominion Guaranteed Shipment': 'old-dominion-guaranteed-shipment',
  'UPS Waybill': 'ups-waybill',
};

/** Returns the test numbers of the data set. */
export function publishedVectors(): Vector[] {
  return readdirSync(FOLDER).flatMap((file) => {
    // The data set is part of the project.
    const carrier = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as CarrierFile;
    return carrier.tracking_numbers.flatMap(({ id, name, test_numbers: { valid, invalid } }) => {
      const vector = { carrier: carrier.courier_code, format: id ?? NAMES[name] ?? '' };
      return [
        ...valid.map((number) => ({ ...vector, number, isValid: true })),
        ...invalid.map((number) => ({ ...vector, number, isValid: false })),
      ];
    });
  });
}
