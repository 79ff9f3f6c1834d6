// Runs the service of dist/ in a separate process, because jest's process cannot change its own time zone. Sends its URL
// to the parent. For each time zone that the parent sends, sets the zone and returns the local time at midnight UTC.
import { createApp } from '../../../dist/src/app.js';
import { readConfig } from '../../../dist/src/config/config.js';
import { openDb } from '../../../dist/src/platform/db/open-database.js';

const { DATABASE_URL } = process.env;
const config = readConfig({ APP_ENV: 'development', DATABASE_URL, LOG_LEVEL: 'error' });
const db = openDb({ url: DATABASE_URL, assumeRole: 'crossdock_app', size: 4, onError: () => undefined });
const { server } = await createApp({ config, db });
process.send(await server.listen({ host: '127.0.0.1', port: 0 }));
process.on('message', (zone) => {
  process.env.TZ = zone;
  process.send(new Date('2026-07-01T00:00:00Z').toString().slice(0, 21));
});
process.on('disconnect', () => process.exit());
