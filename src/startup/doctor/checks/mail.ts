import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { portOf } from '../../../config/blocked-ports.js';
import { inspectSes } from '../../../platform/mail/ses.js';
import { messageOf, ok, orOk, problem, warning, type Finding } from './finding.js';
import type { Subject } from './subject.js';

const CONNECT_TIMEOUT_MS = 5_000;

/** Examines mail without sending any. */
export async function checkMail({ config }: Subject): Promise<Finding[]> {
  const { ses, outbox } = config.mail;
  if (!ses && config.appEnv === 'development') return [ok(`Mail is written to files in ${outbox}.`)];
  if (!ses)
    return [
      warning(
        `Mail is only written to files in ${outbox}.`,
        'To send it, set SES_REGION and MAIL_FROM and provide credentials of AWS.',
      ),
    ];
  const findings: Finding[] = [];
  const { url: endpoint, missing } = await inspectSes(ses);
  if (missing !== undefined)
    findings.push(
      problem(
        `There are no credentials for Amazon SES: ${missing}`,
        'Provide AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, best as files in SECRETS_DIR, or a role of the machine or the pod.',
      ),
    );
  const unreachable = await connectTo(endpoint).then(() => undefined, messageOf);
  if (unreachable !== undefined)
    findings.push(
      problem(
        `Amazon SES at ${endpoint.host} is not reachable: ${unreachable}`,
        'Correct SES_REGION or SES_ENDPOINT, or allow connections to it.',
      ),
    );
  return orOk(findings, `Amazon SES at ${endpoint.host} is reachable, and there are credentials.`);
}

/** Opens a connection, with TLS for https, and closes it. */
function connectTo(url: URL): Promise<void> {
  const host = url.hostname;
  const port = portOf(url);
  return new Promise((resolve, reject) => {
    const socket =
      url.protocol === 'https:' ? connectTls({ host, port, servername: host }) : connect({ host, port });
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no response')));
    socket.once('error', reject);
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
