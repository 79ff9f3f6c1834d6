import { readOwnerUrl } from '../src/config/config.js';
import { migrate } from '../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../src/startup/prepare-database.js';
import { runScript } from './script.js';

// npm run migrate: brings the database that DATABASE_OWNER_URL names up to date.
await runScript(async (print) => {
  const applied = await migrate(readOwnerUrl(), MIGRATIONS);
  print(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to apply.');
});
