import { createHash } from 'node:crypto';
import { daysBefore } from './values/calendar.js';
import { DAYS_IN_BUSINESS } from './couriers.js';
import { DEMO } from './demo.js';
import { RASTER } from '../reference/logo-raster.js';
import type { Row } from './values/rows.js';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40"><rect width="120" height="40" rx="6" fill="#0A7D5C"/>' +
  '<path d="M12 26h20l6-10h-9V9h-4v7H16z" fill="#FFFFFF"/>' +
  '<text x="46" y="23" font-family="sans-serif" font-size="9" fill="#FFFFFF">Island Express</text></svg>';

/** The logo of courier IEX; the others have none. */
export function logoRow(now: Date): Row {
  return {
    tenant_id: DEMO.tenants.demo,
    courier_id: DEMO.couriers.IEX,
    content_hash: createHash('sha256').update(SVG).digest('hex'),
    media_type: 'image/svg+xml',
    // The format of a bytea for jsonb_populate_recordset.
    content: `\\x${Buffer.from(SVG).toString('hex')}`,
    raster: `\\x${RASTER.toString('hex')}`,
    stored_at: daysBefore(now, DAYS_IN_BUSINESS),
  };
}
