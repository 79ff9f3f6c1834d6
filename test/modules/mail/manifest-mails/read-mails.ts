import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { sendManifestMail } from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { assignedLater } from '../../../support/fixture/assigned-later.js';
import { withService } from '../../../support/fixture/with-service.js';
import { openPageReader, type Page, type PageReader } from '../../../support/readers/page.js';
import {
  mailsOf,
  makeManifest,
  move,
  openMailRoom,
  type MailRoom,
} from '../../../support/receivers/mails.js';
import { parseMail, type ParsedMail } from '../../../support/receivers/mime.js';
import { startSes, type Ses } from '../../../support/receivers/ses.js';

const { IEX } = DEMO.couriers;
export const TEXT = 'text/plain; charset=utf-8';
export const HTML = 'text/html; charset=utf-8';

/** A service that sends mails about manifests to IEX, and a reader of their texts and pages. */
export function withReadMails() {
  const fixture = withService();
  const { service } = fixture;
  const [ses, setSes] = assignedLater<Ses>('SES');
  const [room, setRoom] = assignedLater<MailRoom>('mail room');
  const [reader, setReader] = assignedLater<PageReader>('page reader');

  beforeAll(async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: 'secret' });
    setSes(await startSes());
    setReader(openPageReader());
    const region = { region: 'us-east-1', endpoint: ses.url };
    setRoom(openMailRoom(service(), { from: 'notices@crossdock.example', ses: region, outbox: '/nowhere' }));
  }, 60_000);
  afterAll(async () => {
    room.close();
    await reader.close();
    await ses.stop();
  });
  beforeEach(async () => {
    ses.accepted.length = 0;
    await set('couriers', IEX, { name: 'Island Express', email: 'mail@iex.example', house_color: '#0b7a75' });
  });

  /** Returns the mail to IEX about a manifest with these packages after it reached `status`. */
  async function mailOf(packageIds: string[], status: string, meta = {}) {
    const id = await makeManifest(service(), packageIds, meta);
    const steps = ['ready', 'shipped', 'completed'];
    await move(service(), id, ...steps.slice(0, steps.indexOf(status) + 1));
    const { rows } = await service().owner.query('select * from manifests where id = $1', [id]);
    return { mail: await sendLast(id), manifest: rows[0] };
  }

  /** Sends the mail of a manifest's last transition and returns the parsed message. */
  async function sendLast(manifestId: string): Promise<ParsedMail> {
    const row = (await mailsOf(service(), manifestId)).at(-1);
    await sendManifestMail(room.deps, { tenantId: row?.tenant_id ?? '', mailId: row?.id ?? '' });
    return parseMail(ses.accepted.at(-1)?.bytes ?? Buffer.alloc(0));
  }

  const pageOf = (mail: ParsedMail): Promise<Page> => reader.read(mail.parts[HTML] ?? '');

  async function set(table: string, id: string, changes: Record<string, unknown>): Promise<void> {
    const names = Object.keys(changes);
    await service().owner.query(
      `update ${table} set ${names.map((name, n) => `${name} = $${n + 2}`).join(', ')} where id = $1`,
      [id, ...Object.values(changes)],
    );
  }

  return { ...fixture, ses, room, mailOf, sendLast, pageOf, set };
}
