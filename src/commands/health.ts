import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { parseArgs } from 'node:util';
import { environment } from '../config/command-settings.js';
import { parseSettings } from '../config/settings.js';
import { runScript } from './run/script.js';

/** Shorter than the intervals of the health checks in deploy/. */
const TIMEOUT_MS = 4_000;

// crossdock health: asks the process with these settings whether it is alive. Ends with 0 if it is, otherwise with 1. With
// METRICS_PORT it asks there, which also works for a process that runs only the worker.
await runScript(async (print) => {
  parseArgs({ options: {} });
  const { settings } = parseSettings(environment());
  const isMetrics = settings.METRICS_PORT !== undefined;
  const host = isMetrics ? settings.METRICS_HOST : settings.HOST;
  const url = new URL('http://localhost/health');
  url.hostname =
    host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host;
  url.port = String(settings.METRICS_PORT ?? settings.PORT);
  if (!isMetrics && settings.TLS_CERT_FILE) url.protocol = 'https:';
  const status = await statusOf(url);
  if (status !== 200) throw new Error(`${url.href} responded with ${status}.`);
  print('ok');
}, 'crossdock health');

function statusOf(url: URL): Promise<number> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  // The certificate names the public host, not this machine's own address.
  const options = { timeout: TIMEOUT_MS, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('timeout', function (this: { destroy(error: Error): void }) {
        this.destroy(new Error(`${url.href} did not respond within ${TIMEOUT_MS} ms.`));
      })
      .on('error', (error) => reject(new Error(`${url.href}: ${error.message || 'no connection'}`)))
      .end();
  });
}
