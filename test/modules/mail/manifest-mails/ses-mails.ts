import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeCouriers } from '../../../support/builders/couriers.js';
import { assignedLater } from '../../../support/fixture/assigned-later.js';
import { withService } from '../../../support/fixture/with-service.js';
import { openMailRoom, type MailRoom } from '../../../support/receivers/mails.js';
import { startSes, type Ses } from '../../../support/receivers/ses.js';
import { makeQueuedMails } from './queued-mails.js';

const { IEX, HRB, TWO } = DEMO.couriers;
export const ADDRESSES = { [IEX]: 'mail@iex.example', [HRB]: 'mail@hrb.example', [TWO]: 'mail@two.example' };
export const FROM = 'notices@crossdock.example';
export const SECRET = 'aws-secret-that-nobody-may-read';
const TIMEOUT_MS = 2_000;
/** For a receiver that does not respond anyway. */
export const SHORT_TIMEOUT_MS = 400;

/** A service whose mails are sent through a local SES, and a new folder for mails that are not. */
export function withSesMails() {
  const fixture = withService();
  const { service } = fixture;
  const queuedMails = makeQueuedMails(fixture);
  const [ses, setSes] = assignedLater<Ses>('SES');
  const [room, setRoom] = assignedLater<MailRoom>('mail room');
  const [hurriedRoom, setHurriedRoom] = assignedLater<MailRoom>('hurried mail room');
  const folder = mkdtempSync(join(tmpdir(), 'crossdock-mail-'));

  beforeAll(async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIDTEST', AWS_SECRET_ACCESS_KEY: SECRET });
    setSes(await startSes());
    setRoom(openMailRoom(service(), throughSes(ses), TIMEOUT_MS));
    setHurriedRoom(openMailRoom(service(), throughSes(ses), SHORT_TIMEOUT_MS));
    await makeCouriers(service().owner);
    for (const [id, email] of Object.entries(ADDRESSES)) await queuedMails.setCourier(id, { email });
  }, 60_000);
  afterAll(async () => {
    room.close();
    hurriedRoom.close();
    await ses.stop();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    await service().owner.query('delete from graphile_worker._private_jobs');
    ses.answer = 'accept';
    ses.requests.length = 0;
    ses.accepted.length = 0;
  });

  const throughSes = ({ url }: Ses) => ({
    from: FROM,
    ses: { region: 'us-east-1', endpoint: url },
    outbox: join(folder, 'unused'),
  });

  return { ...fixture, ...queuedMails, ses, room, hurriedRoom, throughSes, folder };
}
