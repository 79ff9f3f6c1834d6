import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { sendManifestMail } from '../../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { makeJobsDue, openMailRoom, type MailRow } from '../../../support/receivers/mails.js';
import { headerOf, parseMail } from '../../../support/receivers/mime.js';
import { payloadOf } from './queued-mails.js';
import { ADDRESSES, FROM, withSesMails } from './ses-mails.js';

const { IEX } = DEMO.couriers;

const { service, ses, room, queueMail, rowOf, folder } = withSesMails();

describe('outbox without SES settings', () => {
  const outbox = () => ({ from: FROM, ses: undefined, outbox: join(folder, 'new', 'outbox') });

  test('stores each mail in a private file named by time and id', async () => {
    const { outbox: path } = outbox();
    const written = openMailRoom(service(), outbox());
    const mails: MailRow[] = [];
    for (let n = 0; n < 20; n += 1) mails.push((await queueMail()).mail);
    await Promise.all(mails.map((mail) => sendManifestMail(written.deps, payloadOf(mail))));
    const files = await readdir(path);
    expect(files).toHaveLength(20);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const mail of mails) {
      const file = files.find((name) => name.includes(mail.id)) ?? '';
      expect(file).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f-]{36}\.eml$/);
      expect((await stat(join(path, file))).mode & 0o777).toBe(0o600);
      const parsed = parseMail(await readFile(join(path, file)));
      expect(headerOf(parsed, 'message-id')).toBe(`<${mail.id}@crossdock.example>`);
      expect(await rowOf(mail)).toMatchObject({ status: 'sent', recipient: ADDRESSES[IEX] });
    }
    const references = written.log.map((line) => JSON.parse(line)['reference']).sort();
    expect(references).toEqual(files.sort().map((file) => join(path, file)));
    room.log.push(...written.log);
  });

  test('stores the same bytes as SES gets, except for the boundary and the time', async () => {
    const { mail } = await queueMail();
    await room.work();
    await service().owner.query(
      "update manifest_mails set status = 'queued', settled_at = null where id = $1",
      [mail.id],
    );
    const written = openMailRoom(service(), { ...outbox(), outbox: join(folder, 'same') });
    await sendManifestMail(written.deps, payloadOf(mail));
    const [file = ''] = await readdir(join(folder, 'same'));
    const bytes = await readFile(join(folder, 'same', file));
    expect(comparable(bytes)).toBe(comparable(ses.accepted[0]?.bytes ?? Buffer.alloc(0)));

    function comparable(message: Buffer): string {
      const text = message.toString();
      const boundary = /boundary="([^"]+)"/.exec(text)?.[1] ?? '';
      return text
        .replaceAll(boundary, 'BOUNDARY')
        .replace(/^Date: .*$/m, 'Date:')
        .replaceAll(/\d\d:\d\d:\d\d(?= UTC)/g, '00:00:00');
    }
  });

  test('retries if the folder is not writable, and leaves no partial file', async () => {
    const path = join(folder, 'not-a-folder');
    await writeFile(path, '');
    const written = openMailRoom(service(), { ...outbox(), outbox: path });
    const { mail } = await queueMail();
    await written.work();
    expect(await rowOf(mail)).toMatchObject({ status: 'queued', last_error: 'EEXIST in the outbox' });
    await rm(path);
    await mkdir(path);
    await makeJobsDue(service());
    await written.work();
    expect(await rowOf(mail)).toMatchObject({ status: 'sent', attempt_count: 2 });
    expect(await readdir(path)).toEqual([expect.stringMatching(/\.eml$/)]);
  });
});
