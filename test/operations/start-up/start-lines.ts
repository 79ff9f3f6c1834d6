import { KEYS } from '../../support/rehearsal/installation.js';
import { ask } from '../../support/service/client.js';
import { freePort, run, until } from '../../support/service/processes.js';

/** The settings of which a start of production warns if they are missing. */
export const COMPLETE = {
  SES_REGION: 'eu-west-1',
  MAIL_FROM: 'notices@gateway.example',
  RATE_LIMIT_PER_MINUTE: '3000',
};

/**
 * Starts a server of production, waits until it serves, and stops it. Returns the lines that it has written.
 *
 * @param env the URL of the service's login, and the settings that differ from those of KEYS
 * @param scheme `https` if the settings name a certificate
 * @throws Error with the output of a server that has ended by itself
 */
export async function linesOfStart(
  env: Record<string, string> & { DATABASE_URL: string },
  scheme: 'http' | 'https' = 'http',
): Promise<string[]> {
  const PORT = String(await freePort());
  const server = run('src/main.js', {
    ...KEYS,
    APP_ENV: 'production',
    DEPLOYMENT: 'crossdock-production',
    LOG_LEVEL: 'error',
    RUN_WORKER: 'false',
    PORT,
    ...(scheme === 'http' ? { TRUST_PROXY: '127.0.0.1' } : {}),
    ...env,
  });
  const isServing = async () => {
    if (scheme === 'https') return (await run('src/commands/health.js', { PORT, ...env }).ended).code === 0;
    const reply = await ask(`http://127.0.0.1:${PORT}`, { path: '/ready' }).catch(() => undefined);
    return reply?.status === 200;
  };
  await until(async () => {
    if (server.child.exitCode !== null) throw new Error(server.output());
    return isServing();
  });
  server.child.kill('SIGTERM');
  await server.ended;
  return server.output().split('\n').filter(Boolean);
}
