import { dropDatabases } from './global-setup.mjs';

export default async function globalTeardown() {
  if (!globalThis.__endTestServer) return;
  await dropDatabases(process.env.TEST_ADMIN_URL, (name) =>
    name.startsWith(process.env.TEST_DATABASE_PREFIX),
  );
  await globalThis.__endTestServer();
}
