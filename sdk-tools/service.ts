import { readConfig } from '../src/config/config.js';
import { withDatabase } from '../scripts/measure/rig/database.js';
import { withService as withServiceOf } from '../scripts/measure/rig/service.js';

/** Starts the built service on a free port, with the demo data in a temporary database, and stops it after `work`. */
export const withService = (work: (url: string) => Promise<void>): Promise<void> =>
  withDatabase(readConfig(), { place: 'temporary', print: () => undefined }, (ownerUrl) =>
    withServiceOf({ ownerUrl }, ({ port }) => work(`http://127.0.0.1:${port}`)),
  );
