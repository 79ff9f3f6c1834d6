import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { portOf } from '../../../config/blocked-ports.js';
import { inspectSes } from '../../../platform/mail/ses.js';
import { messageOf, ok, orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Subject } from './subject.js';

const CONNECT_TIMEOUT_MS = 5_000;

/** Examines mail without sending any. */
export async function checkMail({ config }: Subject): Promise<Finding | Finding[]> {
  const { ses, outbox } = config.mail;
  if (!ses && config.appEnv === 'development') return ok(`Mail is written to files in ${outbox}.`);
  if (!ses)
    return warning(
      `Mail is only written to files in ${outbox}.`,
      'To send it, set SES_REGION and MAIL_FROM and provide credentials of AWS.',
    );
  const { url: endpoint, missing } = await inspectSes(ses);
  const unreachable = await connectTo(endpoint).then(() => undefined, messageOf);
  return orOk(
    [
      missing !== undefined &&
        problem(
          `There are no credentials for Amazon SES: ${missing}`,
          'Provide AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, best as files in SECRETS_DIR, or a role of the machine or the pod.',
        ),
      unreachable !== undefined &&
        problem(
          `Amazon SES at ${endpoint.host} is not reachable: ${unreachable}`,
          'Correct SES_REGION or SES_ENDPOINT, or allow connections to it.',
        ),
    ],
    `Amazon SES at ${endpoint.host} is reachable, and there are credentials.`,
  );
}

/** Opens a connection, with TLS for https, and closes it. */
async function connectTo(url: URL): Promise<void> {
  const host = url.hostname;
  const port = portOf(url);
  const isTls = url.protocol === 'https:';
  const socket = isTls ? connectTls({ host, port, servername: host }) : connect({ host, port });
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no response')));
  await once(socket, isTls ? 'secureConnect' : 'connect').finally(() => socket.destroy());
}

/** Says whom the service may mail and call. */
export function checkOutbound({ config }: Subject): Finding {
  const { hosts } = config.outbound;
  if (hosts === undefined) return ok('Couriers may have the service call every public host.');
  if (hosts.length > 0) return ok(`Of the hosts that couriers choose, only ${hosts.join(', ')} are called.`);
  return warning(
    'No host of a courier is called: webhooks and customer synchronisations fail.',
    'Set OUTBOUND_HOSTS to the test systems that staging may call.',
  );
}

/** Finds staging that mails nobody, although it has a provider. */
export function checkRecipients({ config }: Subject): Finding {
  const { recipients, ses } = config.mail;
  if (!recipients) return ok(ses ? 'Every recipient is mailed.' : 'No recipient is mailed.');
  const { otherwiseTo, domains } = recipients;
  return otherwiseTo === undefined && domains.length === 0
    ? warning('Nobody is mailed: every mail is skipped.', 'Set STAGING_MAIL_TO or STAGING_MAIL_DOMAINS.')
    : ok(`Mail goes only to ${[...domains, otherwiseTo].filter(Boolean).join(', ')}.`);
}
